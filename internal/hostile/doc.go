// Package hostile attacks the shop through its own handlers: mutated GraphQL, page tokens, bearer tokens and events, a
// hundred thousand requests in one run, over a store that folds while it is read. Whatever comes, the answer is a client's
// to read, no more than that, and the rows afterwards are those of the events that were accepted.
package hostile
