//go:build !amd64

package scan

// findHints sets a bit of out for each byte of src that begins a hint, and says whether there is any. src has a byte more than
// out has bits.
func findHints(out, src []byte) (any bool) { return hintsPortable(out, src) }
