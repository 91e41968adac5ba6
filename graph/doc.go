// Package graph is the runtime of the generated API: it answers queries from the rows in a querydb.DB.
//
// One core reads: arguments become key values, key values become one lookup or one range of one partition, and the
// rows that fields join to are fetched one level at a time, one exact batch per level. Two executors share it. The
// plan (see [Accelerate]) compiles an operation once and appends the stored JSON of rows to the answer; it takes every
// operation whose root fields are all generated. Generated resolvers call [FetchOne], [FetchPage], [JoinOne] and
// [JoinMany] under gqlgen's executor; they answer the rest, and are the measure that the plan is tested against.
package graph
