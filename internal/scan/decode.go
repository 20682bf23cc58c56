package scan

import "io"

func decoded(r io.Reader) io.Reader { return r }
