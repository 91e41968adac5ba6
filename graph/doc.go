// Package graph answers the queries of a generated API from the rows in a querydb.DB.
//
// A project's generated code gives the catalog of its queries and the schema. [NewRuntime] makes a runtime of the
// catalog and a DB, and [WithCompiledPlans] the schema that a handler serves, such as that of package graphqlhttp.
// Every query is one lookup, or a few ranges, of one partition. Joined rows are read level by level, in one batch per
// level.
//
// Two executors give the same answers. An operation whose root fields are all generated is compiled once into a plan,
// which appends the stored JSON of rows to the answer, and calls no field interceptors: see [WithCompiledPlans].
// Everything else, and what a project resolves itself, goes to resolvers under gqlgen's executor. A resolver of your
// own asks generated queries by the methods of its generated Reader, returns their rows, and calls [Prefetch] for rows
// that it has from elsewhere. The other functions are for generated code.
package graph
