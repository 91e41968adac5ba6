package read

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// binding is what a page token belongs to: the query, what its arguments mean, and who asks. Limit is no part of it, so
// that a client may change its page size on the way; arguments that mean the same range are the same.
type binding struct {
	q     *catalog.Query
	dbq   *querydb.Query
	scope string
	form  [formSize]byte // of the keys among which the cursor is
}

// formSize is how many bytes of the form of keys a token shows.
const formSize = 6

func newBinding(q *catalog.Query, dbq *querydb.Query, v access.Viewer, form uint64) binding {
	b := binding{q: q, dbq: dbq, scope: v.Scope()}
	copy(b.form[:], binary.BigEndian.AppendUint64(nil, form))
	return b
}

// append writes the binding so that different bindings never have the same bytes: each text is led by its length.
func (b binding) append(dst []byte) []byte {
	for _, text := range [...]string{b.q.Name, b.dbq.PK, b.dbq.Range.Lo, b.dbq.Range.Hi, b.scope} {
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
	}
	dst = append(dst, byte(b.dbq.Range.Op))
	if b.dbq.Reverse {
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
	return append(dst, b.form[:]...)
}

// pageTokens seals and opens the tokens that continue a page: the start of the next one, encrypted and bound to its
// query. Before that stands the form of the keys, so that a token of rows that were rebuilt under other keys is known
// for what it is.
type pageTokens struct{ sealer *keys.Sealer }

var formText = base64.RawURLEncoding

func (t pageTokens) seal(b binding, next keys.Cursor) string {
	return formText.EncodeToString(b.form[:]) + t.sealer.Seal(b.append(nil), keys.AppendCursor(nil, next))
}

// open returns where the page of the token begins.
func (t pageTokens) open(b binding, token string) (*keys.Cursor, error) {
	sealed, same := strings.CutPrefix(token, formText.EncodeToString(b.form[:]))
	if !same && len(token) > formText.EncodedLen(formSize) {
		err := graphqlerr.New(graphqlerr.InvalidToken, "%s: nextToken is not valid any more: it is of rows that have been "+
			"rebuilt, or not of this server; begin with the first page", b.q.Name)
		return nil, graphqlerr.WithExtension(err, "reason", "rebuilt")
	}
	payload, err := t.sealer.Open(b.append(nil), sealed)
	if err == nil {
		var start keys.Cursor
		if start, err = keys.ParseCursor(payload); err == nil {
			return &start, nil
		}
	}
	return nil, graphqlerr.New(graphqlerr.InvalidToken, "%s: nextToken is not valid here; it continues the query that "+
		"gave it, with the same arguments and for the same caller", b.q.Name)
}
