package problem

import (
	"net/http"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp"
)

// GraphQLPath is where queries are answered.
const GraphQLPath = "/graphql"

// Answer sends the problem in the form that clients of the path read: at [GraphQLPath] as an error of GraphQL, since
// they take any other answer for a failure of the network.
func (p *Problem) Answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == GraphQLPath {
		graphqlhttp.Refuse(w, r, p.Status, graphqlerr.New(p.code(), "%s", p.Detail))
		return
	}
	p.Write(w)
}

// code is the one that comes nearest to the problem.
func (p *Problem) code() graphqlerr.Code {
	switch p.Status {
	case http.StatusForbidden:
		return graphqlerr.Forbidden
	case http.StatusServiceUnavailable:
		return graphqlerr.Unavailable
	}
	return graphqlerr.Internal
}
