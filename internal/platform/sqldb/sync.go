//go:build !nosync

package sqldb

// synchronous makes SQLite wait for the disk at every commit.
const synchronous = "FULL"
