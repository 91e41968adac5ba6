package execute

import (
	"errors"

	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/argument"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/record"
)

// pageRows are the pages that the rows of a node lead to. They are distinct, however many rows share one.
type pageRows struct {
	pages  []read.Paged
	firsts []int // where the rows of each page begin among those of the nodes of its items
	ids    []read.PageKey
	refs   []int32 // the page of each row of the node, or why it has none
	places int     // how many rows of the node there are
	denied error   // nobody may follow this field
	damage error   // of the rows whose stored values make no key, the same for all
}

var errNoKey = errors.New("it is no value of a key")

// fewPages is for how many pages room is made before it is known how many there are.
const fewPages = 128

// findPages notes which page each row of the node leads to.
func (js *Joins) findPages(n *plan.Node, p *plan.Pages) {
	parents, to := &js.nodes[n.ID].JoinedRows, &js.pages[p.ID]
	most := len(parents.Records)
	few := min(most, fewPages) // how many of the keys are distinct is not known
	seen := make(map[read.PageKey]int32, few)
	to.refs, to.ids = make([]int32, 0, most), make([]read.PageKey, 0, few)
	for i, rec := range parents.Records {
		to.refs = append(to.refs, nowhere)
		if rec == nil || parents.Err(i) != nil {
			continue
		}
		to.places++
		if js.closed(n, p.Rule, rec) {
			continue
		}
		isNull, isUnknown := lacks(rec, p.By)
		if isNull {
			continue
		}
		ref := &to.refs[i]
		id, ok := read.StoredPageKey(n.Type.Model.Fields, rec, p.By)
		switch known, again := seen[id]; {
		case isUnknown:
			*ref = unknown
		case !ok:
			*ref = unreadable
			if to.damage == nil { // the log has the first
				to.damage = js.damage(js.rd.Catalog.Types[p.Query.Type], p.Field, errNoKey)
			}
		case again:
			*ref = known
		default:
			*ref = int32(len(to.ids))
			seen[id], to.ids = *ref, append(to.ids, id)
		}
	}
}

// readPages reads the pages, and gives their rows to the nodes of the items.
func (js *Joins) readPages(p *plan.Pages) {
	to := &js.pages[p.ID]
	var req read.Request
	if to.denied = js.pageRequest(p, len(to.ids), &req); to.denied != nil || len(to.ids) == 0 {
		return
	}
	to.pages = js.source.Pages(js.ctx, p, to.ids, &req)
	rows := 0
	for i := range to.pages {
		rows += len(to.pages[i].Rows)
	}
	recs := make([]record.Record, 0, rows)
	to.firsts = make([]int, len(to.pages))
	for i := range to.pages {
		to.firsts[i] = len(recs)
		for k := range to.pages[i].Rows {
			recs = append(recs, to.pages[i].Rows[k].Record)
		}
	}
	for _, n := range p.Items {
		js.SetRows(n, recs)
	}
}

// pageRequest makes the request for so many pages.
func (js *Joins) pageRequest(p *plan.Pages, pages int, req *read.Request) error {
	req.Fields, req.WantNext, req.WantToken, req.WantCursors = p.Fields, p.Next, p.Token, p.Cursors
	if err := p.Args.Read(p.Query, js.vars, req); err != nil {
		js.Failing += js.pages[p.ID].places
		return err
	}
	if t := js.rd.Catalog.Types[p.Query.Type]; js.viewer.LevelOf(t.Rule) == access.Refused {
		return js.viewer.Refusal(t.Name)
	}
	limit, wrong := read.PageSize(p.Query, &req.Page)
	if rows := pages * limit; wrong == nil && rows > js.rd.Config.MaxFanout { // else each page says what is wrong
		err := read.TooManyInPages(rows, js.rd.Config.MaxFanout)
		js.source.Refuse(p.Path, err)
		return err
	}
	if err := (read.Paging{Reader: js.rd, Query: p.Query}).Charge(js.ctx, pages); err != nil {
		js.source.Refuse(p.Path, err)
		return err
	}
	return nil
}

// page returns the page that row i of the node leads to, and where its rows begin.
func (js *Joins) page(p *plan.Pages, i int) (page *read.Page, first int, err error) {
	from := &js.pages[p.ID]
	ref := from.refs[i]
	switch t := js.rd.Catalog.Types[p.Query.Type]; {
	case ref == nowhere:
		return &read.Page{}, 0, nil
	case ref == unknown:
		return nil, 0, js.rd.NotKnown(js.ctx, t, "what leads to them")
	case from.denied != nil:
		return nil, 0, from.denied
	case ref == unreadable:
		return nil, 0, from.damage
	}
	return &from.pages[ref].Page, from.firsts[ref], from.pages[ref].Err
}

// wrongArgument returns what is wrong with an argument of the field, if anything is.
func (js *Joins) wrongArgument(p *plan.Pages) error {
	var wrong *argument.Error
	if denied := js.pages[p.ID].denied; errors.As(denied, &wrong) {
		return denied
	}
	return nil
}
