// Package stored has nothing but tests: feeds, imports and the match on the real store. Beside the packages of these they
// would have the store, which imports them, compiled once more for each.
package stored
