package trial

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/catalog"
)

// consultRelay asks rows by their global identifiers, and goes through pages in both directions, where the API has what
// clients of Relay need. The caller may read everything.
func consultRelay(t *trial) error {
	all := auth.NewContext(t.ctx, auth.Caller{Subject: "ann", Groups: t.groups()})
	if len(t.Catalog.Nodes) > 0 {
		for range 20 {
			if err := consultNodes(all, t); err != nil {
				return err
			}
		}
	}
	for _, name := range t.queryNames() {
		q := t.Catalog.Queries[name]
		if q.Edge == "" || q.Collection == nil && t.Catalog.Types[q.Type].Model.HistoryOf != "" {
			continue
		}
		for range 5 {
			if err := consultEdges(all, t, q); err != nil {
				return err
			}
		}
	}
	return nil
}

// consultNodes compares rows of any types under their global identifiers with those that are stored. Some identifiers
// lack the mark of the key, as those of earlier versions.
func consultNodes(ctx context.Context, t *trial) error {
	ids, want := []string{}, []string{}
	fragments := ""
	for _, typ := range t.Catalog.Nodes {
		fragments += "... on " + typ + " { "
		for _, f := range t.keyFields(typ) {
			fragments += typ + "_" + f + ": " + f + " "
		}
		fragments += "} "
	}
	for range 1 + t.rng.IntN(6) {
		typ := t.Catalog.Nodes[t.rng.IntN(len(t.Catalog.Nodes))]
		if len(t.rows[typ]) == 0 {
			continue
		}
		r, m := t.rows[typ][t.rng.IntN(len(t.rows[typ]))], t.Catalog.Types[typ].Model
		var parts []string
		seen, mark := map[int]bool{}, fnv.New32a()
		for _, f := range slices.Concat(m.PK.Fields, m.SK.Fields) {
			if !seen[f] {
				parts, seen[f] = append(parts, string(r.at.Record.JSON(f))), true
				fmt.Fprint(mark, m.Fields[f].Name, "\x00")
			}
		}
		id := nodeID(typ+"#"+base64.RawURLEncoding.EncodeToString(mark.Sum(nil)), parts)
		asked := id
		if t.rng.IntN(3) == 0 {
			asked = nodeID(typ, parts)
		}
		ids = append(ids, `"`+asked+`"`)
		want = append(want, `{"__typename":"`+typ+`","uid":"`+id+`",`+keyText(m, r, typ+"_")+"}")
	}
	query := fmt.Sprintf("{ rows: nodes(ids: [%s]) { __typename uid %s } }", strings.Join(ids, ", "), fragments)
	wanted := `{"data":{"rows":[` + strings.Join(want, ",") + `]}}`
	if got := string(ask(t.plans, ctx, query, nil)); got != wanted {
		return fmt.Errorf("%s\n got %s\nwant %s", query, got, wanted)
	}
	return nil
}

// nodeID is a global identifier of a type, with the mark of its key or without it, and the values of the key.
func nodeID(typ string, values []string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`["` + typ + `",` + strings.Join(values, ",") + "]"))
}

// edges is a page, of whose rows the texts are compared.
type edges struct {
	Data struct {
		Page struct {
			Edges []struct {
				Cursor string
				Node   json.RawMessage
			}
			PageInfo struct {
				HasNextPage, HasPreviousPage bool
				StartCursor, EndCursor       *string
			}
		}
	}
}

// consultEdges goes through a list from its beginning to its end and back, in pages of a random length: both are the
// rows, and so is what an answer says of further pages.
func consultEdges(ctx context.Context, t *trial, q *catalog.Query) error {
	members, _ := t.members(q)
	from := t.rows[members[t.rng.IntN(len(members))]]
	if q.Collection != nil {
		members = q.Collection.Members
	}
	if len(from) == 0 {
		return nil
	}
	asked := from[t.rng.IntN(len(from))]
	given, ok := t.arguments(q, asked)
	if !ok {
		return nil
	}
	reverse, n := t.rng.IntN(2) == 0, 1+t.rng.IntN(4)
	want := t.page(q, members, asked, reverse)
	for _, forward := range []bool{true, false} {
		got, cursor := []string{}, ""
		for {
			page := fmt.Sprintf("first: %d%s", n, cursorArgument("after", cursor))
			if !forward {
				page = fmt.Sprintf("last: %d%s", n, cursorArgument("before", cursor))
			}
			query := fmt.Sprintf("{ page: %s(%sreverse: %t, %s) { edges { cursor node { __typename %s } } pageInfo { "+
				"hasNextPage hasPreviousPage startCursor endCursor } } }", q.Name, given, reverse, page, t.identity(q))
			var answer edges
			text := ask(t.plans, ctx, query, nil)
			if err := json.Unmarshal(text, &answer); err != nil || len(answer.Data.Page.Edges) > n {
				return fmt.Errorf("%s\n got %s", query, text)
			}
			p, items := answer.Data.Page, []string{}
			for _, edge := range p.Edges {
				items = append(items, string(edge.Node))
			}
			more := p.PageInfo.HasNextPage
			if forward {
				got = append(got, items...)
			} else {
				got, more = append(items, got...), p.PageInfo.HasPreviousPage
			}
			if more && len(p.Edges) < n {
				return fmt.Errorf("%s\n has %d rows and says that there are more: %s", query, len(p.Edges), text)
			}
			if !more {
				break
			}
			if cursor = *p.PageInfo.EndCursor; !forward {
				cursor = *p.PageInfo.StartCursor
			}
		}
		if all := `{"data":{"page":{"items":[` + strings.Join(got, ",") + `]}}}`; all != want {
			return fmt.Errorf("%s(%s) reverse %t, forward %t, pages of %d\n got %s\nwant %s", q.Name, given, reverse, forward, n,
				all, want)
		}
	}
	return nil
}

// cursorArgument is the argument of a cursor, "" where there is none.
func cursorArgument(name, cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf(", %s: %q", name, cursor)
}
