// Package resolve serves resolvers under gqlgen's executor: it looks ahead and reads what an operation joins to rows in
// one batch a level, and remembers the rows for the fields that ask for them.
package resolve
