// Package read reads the rows that queries ask for: one row, pages and their tokens, collections, and the rows that
// others are joined to. It composes keys of arguments, and holds the rules of indexes and owners before anything is
// read.
package read
