// Package conformance has nothing but tests: they hold the running service against the partner contract, from outside,
// and run the reference's examples on it.
package conformance
