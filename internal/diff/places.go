package diff

import (
	"slices"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
)

// place is a field of the API that reads rows by a key: a query, or a join.
type place struct {
	at      string            // Query.TaskByTeam, Customer.orders
	query   schema.Query      // of a join without pages nothing but its index
	args    []served.Argument // those that clients give
	origins []origin          // one, or each member of a collection
	rule    indexRule
	joined  []*schema.Field // of an origin: those whose values a row gives in place of arguments
}

// origin is what rows are read from: a table, or an index of it.
type origin struct {
	model *schema.ReadModel
	index *schema.Index // nil for the table
}

// halves are the key by which rows are found, and come in its order.
func (o origin) halves() (pk, sk schema.Half) {
	if o.index != nil {
		return o.index.PK, o.index.SK
	}
	return o.model.PK, o.model.SK
}

// comparePlaces compares what the API does not show of each place that there is in both schemas.
func comparePlaces(was, now *schema.Model) (all []Change) {
	after := places(now)
	for _, p := range places(was) {
		i := slices.IndexFunc(after, func(to place) bool { return to.at == p.at })
		if i < 0 {
			continue
		}
		to := after[i]
		if len(pairs(&p, &to)) == 0 || p.isPage() != to.isPage() { // it has another type, which the API shows
			continue
		}
		all = append(all, compareRules(&p, &to)...)
		all = append(all, compareKeys(&p, &to)...)
	}
	return all
}

// pairs are the origins of the same models, as they were and as they are.
func pairs(was, now *place) (all [][2]origin) {
	for _, o := range was.origins {
		for _, to := range now.origins {
			if o.model.Name == to.model.Name {
				all = append(all, [2]origin{o, to})
			}
		}
	}
	return all
}

func places(m *schema.Model) (all []place) {
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			all = append(all, place{at: "Query." + q.Name, query: q, args: served.Arguments(r, q),
				origins: []origin{{r, q.Index}}, rule: ruleOf(q.Index)})
		}
		for _, j := range r.Joins {
			all = append(all, joinPlace(r, j))
		}
	}
	for _, c := range m.Collections {
		all = append(all, collectionPlace(c))
	}
	return all
}

func joinPlace(r *schema.ReadModel, j *schema.Join) place {
	p := place{at: r.Name + "." + j.Name, query: schema.Query{Index: j.Via}, origins: []origin{{j.Target, j.Via}},
		rule: ruleOf(j.Via), joined: j.Keys}
	if j.Paged {
		p.query, _ = j.Pages()
		p.args = served.PageArguments(j)
	}
	return p
}

func collectionPlace(c *schema.Collection) place {
	q := c.Query()
	p := place{at: "Query." + q.Name, query: q, args: served.CollectionArguments(c),
		rule: indexRule{group: c.Group, table: c.AuthTable}}
	for _, m := range c.Members {
		p.origins = append(p.origins, origin{m.Model, m.Index})
		p.rule.groupOnly = p.rule.groupOnly || m.Index.GroupOnly
	}
	return p
}

// argument finds an argument, of which ok says that there is one.
func (p *place) argument(name string) (a served.Argument, ok bool) {
	i := slices.IndexFunc(p.args, func(a served.Argument) bool { return a.Name == name })
	if i < 0 {
		return served.Argument{}, false
	}
	return p.args[i], true
}

// isPage reports whether the place has pages of rows.
func (p *place) isPage() bool { return p.query.Connection != "" }
