//go:build nosync

package sqldb

// synchronous is off in a build that is never shipped: the test that watches the disk being waited for must notice it.
const synchronous = "OFF"
