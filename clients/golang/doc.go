// Package golang holds the Go client against the real service and against the standard's own library. The client itself
// is the module in client/, which needs neither, so its tests that do are here.
package golang
