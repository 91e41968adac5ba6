// Package hostile attacks the shop as the server runs it, at the server's own settings: mutated GraphQL, page tokens,
// bearer tokens, events and questions of operators, a hundred thousand requests in one run, over a store that folds
// while it is read. Whatever comes, the answer is a client's to read, no more than that, memory stays in bounds, and
// the rows afterwards are those of the events that were accepted.
//
// A second part runs the program itself and takes from it as much as one client can: memory, connections and time.
// Memory stays in bounds and an innocent client is answered all the while.
package hostile
