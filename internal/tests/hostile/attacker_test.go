package hostile

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/shop/sample"
)

// attacker makes requests. What it makes depends on its seed and on the number of the request alone.
type attacker struct {
	seed    uint64
	schema  *ast.Schema
	sample  []eventlog.Event
	pages   []pageToken
	genuine map[string]bool // the tokens of pages
}

func newAttacker(seed uint64, schema *ast.Schema, pages []pageToken) *attacker {
	a := &attacker{
		seed: seed, schema: schema, pages: pages, genuine: map[string]bool{},
		sample: slices.Collect(sample.Events(sample.Small)),
	}
	for _, p := range pages {
		a.genuine[p.token] = true
	}
	return a
}

// request makes the request of that number.
func (a *attacker) request(number int) *request {
	d := newDice(a.seed, uint64(number))
	q := draw(d, []weighted[func(dice) *request]{
		{48, a.graphql}, {12, a.page}, {12, a.bearer}, {22, a.ingest}, {4, a.operator}, {2, a.elsewhere},
	})(d)
	if q.path != api && q.header["Authorization"] == nil {
		q.header.Set("Authorization", "Bearer "+writer)
	}
	if q.path == api && q.header["Authorization"] == nil && d.chance(40) && q.want == nil {
		q.as(pick(d, callers))
	}
	if q.path == api && d.chance(30) && q.header["Accept"] == nil {
		q.header.Set("Accept", "application/graphql-response+json")
	}
	return q
}
