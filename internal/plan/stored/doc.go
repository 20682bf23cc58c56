// Package stored has nothing but tests: the rules of package plan on the real store. Beside that package they would
// have the store, which imports it, compiled once more for them.
package stored
