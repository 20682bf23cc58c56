// Package conformance has nothing but tests: they hold the running service against the partner contract, from outside.
package conformance
