package read

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// binding is what a page token belongs to: the query, what its arguments mean, and who asks. Limit is no part of it, so
// that a client may change its page size on the way; arguments that mean the same range are the same.
type binding struct {
	q       *catalog.Query
	dbq     *querydb.Query
	reverse bool // the greatest come first, wherever the reading of the page begins
	scope   string
	form    [formSize]byte // of the keys among which the cursor is
	filter  []byte         // the hash of what the filter says, which may be long, and pages many; nil for none
}

// formSize is how many bytes of the form of keys a token shows.
const formSize = 6

// filterMark stands before a filter, where else the operator of a range does.
const filterMark = 0xff

func newBinding(q *catalog.Query, dbq *querydb.Query, v access.Viewer, form uint64) binding {
	return binding{q: q, dbq: dbq, reverse: dbq.Reverse, scope: v.Scope(), form: shownForm(form)}
}

// shownForm is what a token shows of a form.
func shownForm(form uint64) [formSize]byte {
	return [formSize]byte(binary.BigEndian.AppendUint64(nil, form))
}

// append writes the binding so that different bindings never have the same bytes: each text is led by its length.
func (b binding) append(dst []byte) []byte {
	for _, text := range [...]string{b.q.Name, b.dbq.PK, b.dbq.Range.Lo, b.dbq.Range.Hi, b.scope} {
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
	}
	dst = append(dst, byte(b.dbq.Range.Op))
	if b.reverse {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	for _, r := range b.dbq.Ranges {
		dst = append(dst, byte(r.Op))
		for _, text := range [...]string{r.Lo, r.Hi} {
			dst = binary.AppendUvarint(dst, uint64(len(text)))
			dst = append(dst, text...)
		}
	}
	if b.filter != nil {
		dst = append(dst, filterMark)
		dst = binary.AppendUvarint(dst, uint64(len(b.filter)))
		dst = append(dst, b.filter...)
	}
	return append(dst, b.form[:]...)
}

// pageTokens seals and opens the tokens that continue a page: the start of the next one, encrypted and bound to its
// query. Before that stands the form of the keys, so that a token of rows that were rebuilt under other keys is known
// for what it is.
type pageTokens struct {
	sealer  *keys.Sealer
	served  served
	catalog *catalog.Catalog
}

var formText = base64.RawURLEncoding

func (t pageTokens) seal(b binding, next keys.Cursor) string { return t.bind(b).seal(next) }

// boundTokens are tokens of one binding, whose bytes are made once.
type boundTokens struct {
	sealer *keys.Sealer
	form   string
	bound  []byte
	padded bool // they may be of rows that are hidden from the caller
}

func (t pageTokens) bind(b binding) boundTokens {
	return boundTokens{t.sealer, formText.EncodeToString(b.form[:]), b.append(nil), b.dbq.Visible != nil}
}

func (t boundTokens) seal(next keys.Cursor) string {
	if t.padded {
		return t.form + t.sealer.Seal(t.bound, keys.AppendPaddedCursor(nil, next))
	}
	return t.form + t.sealer.Seal(t.bound, keys.AppendCursor(nil, next))
}

// start returns where the page of a request begins, nil where it says nothing of that.
func (t pageTokens) start(ctx context.Context, b binding, r *Request) (*keys.Cursor, error) {
	argument, token := startOf(&r.Page)
	if token == nil {
		return nil, nil
	}
	return t.open(ctx, b, argument, *token)
}

// open returns where the page of the token begins, which an argument gives.
func (t pageTokens) open(ctx context.Context, b binding, argument, token string) (*keys.Cursor, error) {
	sealed, same := strings.CutPrefix(token, formText.EncodeToString(b.form[:]))
	if !same && t.isFormer(ctx, token) {
		err := graphqlerr.New(graphqlerr.InvalidToken, "%s: %s is not valid any more: it is of rows that have been "+
			"rebuilt, or not of this server; begin with the first page", b.q.Name, argument)
		return nil, graphqlerr.WithExtension(err, "reason", "rebuilt")
	}
	payload, err := t.sealer.Open(b.append(nil), sealed)
	if err == nil {
		var start keys.Cursor
		if start, err = keys.ParseCursor(payload); err == nil {
			return &start, nil
		}
	}
	return nil, graphqlerr.New(graphqlerr.InvalidToken, "%s: %s is not valid here; it continues the query that "+
		"gave it, with the same arguments and for the same caller", b.q.Name, argument)
}

// isFormer reports whether a token may be of keys that there were before: it has a form, which nothing has that serves.
func (t pageTokens) isFormer(ctx context.Context, token string) bool {
	var form [formSize]byte
	text := formText.EncodedLen(formSize)
	if len(token) <= text {
		return false
	}
	if _, err := formText.Decode(form[:], []byte(token[:text])); err != nil {
		return false
	}
	if _, err := formText.DecodeString(token[text:]); err != nil {
		return false
	}
	for serving := range t.forms(ctx) {
		if serving == form {
			return false
		}
	}
	return true
}

// forms are the forms of the keys that are read by now: of the tables and indexes of all types, and of collections as a
// whole.
func (t pageTokens) forms(ctx context.Context) iter.Seq[[formSize]byte] {
	return func(yield func([formSize]byte) bool) {
		for _, typ := range t.catalog.Types {
			if typ.Model == nil {
				continue
			}
			for index := driver.Primary; index < len(typ.Model.Indexes); index++ {
				if key, err := t.served.key(ctx, typ.Model, index); err == nil && !yield(shownForm(key.Form)) {
					return
				}
			}
		}
		for _, q := range t.catalog.Queries {
			if q.Collection != nil && !yield(shownForm(t.served.formOf(ctx, q.Collection))) {
				return
			}
		}
	}
}

// backward reports whether a page is the last rows of what is asked for, rather than the first.
func backward(a *catalog.PageArgs) bool { return a.Last != nil || a.Before != nil }

// startOf is the token or cursor that a page begins at, with the argument that gives it; nil for none.
func startOf(a *catalog.PageArgs) (argument string, token *string) {
	switch {
	case a.After != nil:
		return queryarg.After, a.After
	case a.Before != nil:
		return queryarg.Before, a.Before
	}
	return queryarg.NextToken, a.NextToken
}

// checkCursors finds arguments of a Relay connection that cannot be given together.
func checkCursors(q *catalog.Query, a *catalog.PageArgs) error {
	if a.First == nil && a.After == nil && a.Last == nil && a.Before == nil { // as in most requests
		return nil
	}
	given := map[string]bool{
		queryarg.Limit: a.Limit != nil, queryarg.NextToken: a.NextToken != nil, queryarg.First: a.First != nil,
		queryarg.After: a.After != nil, queryarg.Last: a.Last != nil, queryarg.Before: a.Before != nil,
	}
	for _, arg := range queryarg.All {
		for _, other := range arg.Excludes {
			if given[arg.Name] && given[other] {
				return graphqlerr.New(graphqlerr.BadUserInput, "%s: %s and %s cannot be given together", q.Name, arg.Name, other)
			}
		}
	}
	return nil
}

// placed says where a page is among the rows of its query.
type placed struct {
	// HasNext and HasPrevious say whether there are rows after the page and before it. Where the page begins or ends at a
	// cursor, the row of the cursor is taken to be there.
	HasNext, HasPrevious bool

	cursors boundTokens
	starts  []keys.Cursor // of the rows whose cursors were asked for
	// before and after are where a page begins and ends that may be short, where that is not at a row of it.
	before, after *keys.Cursor
}

// place says where a page is that was read from its beginning, or, backward, from its end, and turns the latter round.
func (t pageTokens) place(p *Page, r *Request, b binding, starts []keys.Cursor, next *keys.Cursor) {
	_, start := startOf(&r.Page)
	p.HasNext, p.HasPrevious, p.after = next != nil, start != nil, next
	if backward(&r.Page) {
		p.HasNext, p.HasPrevious, p.after, p.before = start != nil, next != nil, nil, next
		p.Rows, p.Members, starts = slices.Clone(p.Rows), slices.Clone(p.Members), slices.Clone(starts)
		slices.Reverse(p.Rows)
		slices.Reverse(p.Members)
		slices.Reverse(starts)
		next = nil
		if n := len(starts); n > 0 && p.HasNext {
			next = &starts[n-1]
		}
	}
	if next != nil && r.WantToken {
		p.Next = t.seal(b, *next)
	}
	if r.WantCursors {
		p.cursors, p.starts = t.bind(b), starts
	}
}

// Cursor is the cursor of row i of the page, "" where cursors were not asked for.
func (p *placed) Cursor(i int) string {
	if i < 0 || i >= len(p.starts) {
		return ""
	}
	return p.cursors.seal(p.starts[i])
}

// Start is the cursor of the first row, or of one before it, where rows were looked at that are not in the page; ""
// where there is none.
func (p *placed) Start() string { return p.end(p.before, 0) }

// End is the cursor of the last row, or of one after it, likewise.
func (p *placed) End() string { return p.end(p.after, len(p.starts)-1) }

func (p *placed) end(at *keys.Cursor, row int) string {
	if at != nil && p.cursors.bound != nil {
		return p.cursors.seal(*at)
	}
	return p.Cursor(row)
}
