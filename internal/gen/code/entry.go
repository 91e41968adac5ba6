package code

// Entry writes what a server calls for its schema, by one name whether the project has resolvers of its own or not.
func Entry(module string, own bool) *File {
	f := &File{pkg: "graph", doc: "Package graph makes the schema that the project serves, and resolves the fields of " +
		"Query that are its own.\n"}
	f.use("github.com/99designs/gqlgen/graphql")
	f.lib("graph")
	f.use(module + "/graph/generated")
	f.line("// Schema makes the schema that answers from the runtime, which is one of generated.Catalog.")
	if own {
		f.line("func Schema(rt *graph.Runtime) graphql.ExecutableSchema { return generated.New(rt, NewResolver(rt)) }")
	} else {
		f.line("func Schema(rt *graph.Runtime) graphql.ExecutableSchema { return generated.New(rt) }")
	}
	return f
}
