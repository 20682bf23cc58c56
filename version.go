package vigia

// Version is the version of this tree: of the program, its clients and its API's document. scripts/release names files
// by it, and a test compares the others with it.
const Version = "1.0.0"
