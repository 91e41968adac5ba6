package read

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A global identifier is a list in JSON, of the type of a row, with the mark of its key, and of the values that name it
// there, as the row holds them. It is written in base64, as a hint that nobody should take it apart.
var nodeIDText = base64.RawURLEncoding

// keyMarkSign stands before the mark of a key, after the name of the type, in which it cannot be.
const keyMarkSign = "#"

// appendKeyMark appends what tells a key from others that the type had or will have: a hash of the names of its fields.
// Without it the values of one key would name another row under the next.
func appendKeyMark(dst []byte, t *catalog.Type, key []int) []byte {
	const offset, prime = 2166136261, 16777619 // of FNV-1a, here without the memory that hash/fnv takes at each row
	hash := uint32(offset)
	for _, ordinal := range key {
		name := t.Model.Fields[ordinal].Name
		for i := range len(name) {
			hash = (hash ^ uint32(name[i])) * prime
		}
		hash *= prime // as of a zero byte, which no name has
	}
	return nodeIDText.AppendEncode(dst, binary.BigEndian.AppendUint32(make([]byte, 0, 4), hash))
}

// AppendNodeID appends the global identifier of a row of the type; ok is false where the row lacks one of the values.
func AppendNodeID(dst []byte, t *catalog.Type, key []int, rec record.Record) (id []byte, ok bool) {
	var few [128]byte
	text := append(few[:0], `["`...)
	text = append(text, t.Name...) // GraphQL names need no escaping
	text = appendKeyMark(append(text, keyMarkSign...), t, key)
	text = append(text, '"')
	for _, ordinal := range key {
		value := rec.JSON(ordinal)
		if value == nil || record.IsUnknown(value) {
			return dst, false
		}
		text = append(append(text, ','), value...)
	}
	return nodeIDText.AppendEncode(dst, append(text, ']')), true
}

// parseNodeID returns the place of the type among the Nodes of the catalog, -1 for one that is no more, and the values;
// ok is false for a text that is no identifier. One under a former key is none: its row may be there, under another.
// One without a mark, which earlier versions gave, is taken for one under the present key.
func parseNodeID(c *catalog.Catalog, id string) (place int, vals []keys.Value, ok bool) {
	text, err := nodeIDText.DecodeString(id)
	if err != nil || !utf8.Valid(text) {
		return 0, nil, false
	}
	var parts []json.RawMessage
	var name string
	if json.Unmarshal(text, &parts) != nil || len(parts) == 0 || json.Unmarshal(parts[0], &name) != nil {
		return 0, nil, false
	}
	name, mark, marked := strings.Cut(name, keyMarkSign)
	if place = slices.Index(c.Nodes, name); place < 0 {
		return -1, nil, true
	}
	key, fields := NodeKey(c.Types[name]), c.Types[name].Model.Fields
	if len(parts) != 1+len(key) || marked && mark != string(appendKeyMark(nil, c.Types[name], key)) {
		return 0, nil, false
	}
	vals = make([]keys.Value, len(key))
	for i, ordinal := range key {
		if vals[i], ok = record.KeyValue(fields[ordinal].Scalar, parts[1+i]); !ok {
			return 0, nil, false
		}
	}
	return place, vals, true
}

// NodeKey are the fields whose values are in the global identifiers of rows of a type.
func NodeKey(t *catalog.Type) []int {
	for _, f := range t.Fields {
		if f.NodeKey != nil {
			return f.NodeKey
		}
	}
	return nil
}

// Nodes answers a query of kind QueryNode or QueryNodes.
type Nodes struct {
	*Reader // of which Types needs the catalog alone
	Query   *catalog.Query
}

// FoundNodes are rows of several types, in the order of their identifiers.
type FoundNodes struct {
	Records []record.Record // nil where there is none that the viewer may see
	Types   []int           // of each its place among the Nodes of the catalog; any where there is no row
}

// ByType are the records of each type, in their order.
func (f FoundNodes) ByType(types int) [][]record.Record {
	recs := make([][]record.Record, types)
	for i, rec := range f.Records {
		recs[f.Types[i]] = append(recs[f.Types[i]], rec)
	}
	return recs
}

// nodesOf are the rows of one type that are asked for.
type nodesOf struct {
	places []int // in the answer
	vals   [][]keys.Value
	err    error
}

// Types are the types that identifiers name, each by its place among the Nodes of the catalog, -1 for one that is no
// more; an error tells of an identifier that is none.
func (rd Nodes) Types(ids []keys.Value) (types []int, err error) {
	types = make([]int, len(ids))
	for i, id := range ids {
		if types[i], _, err = rd.parse(id); err != nil {
			return nil, err
		}
	}
	return types, nil
}

// parse returns the type of an identifier, and the values that name the row.
func (rd Nodes) parse(id keys.Value) (typ int, vals []keys.Value, err error) {
	typ, vals, ok := parseNodeID(rd.Catalog, id.AsString())
	if !ok {
		err = graphqlerr.New(graphqlerr.BadUserInput, "%s: %.80q is not the identifier of a row, or of one under a "+
			"former key; take it from an answer of this API", rd.Query.Name, id.AsString())
	}
	return typ, vals, err
}

// Read reads the rows of the identifiers, those of each type in one batch.
func (rd Nodes) Read(ctx context.Context, r *Request) (found FoundNodes, err error) {
	if err := CheckIDs(rd.Query, len(r.IDs), rd.Config.MaxFanout); err != nil {
		return found, err
	}
	found.Records, found.Types = make([]record.Record, len(r.IDs)), make([]int, len(r.IDs))
	wanted := make([]nodesOf, len(rd.Catalog.Nodes))
	for i, id := range r.IDs {
		place, vals, err := rd.parse(id)
		if err != nil {
			return found, err
		}
		if place < 0 {
			continue
		}
		of := &wanted[place]
		found.Types[i], of.places, of.vals = place, append(of.places, i), append(of.vals, vals)
	}
	v := rd.Viewer(ctx)
	parallel.Each(len(wanted), rd.Config.Parallelism, func(i int) {
		if of := &wanted[i]; len(of.places) > 0 {
			of.err = rd.readType(ctx, v, rd.Catalog.Types[rd.Catalog.Nodes[i]], of, found.Records)
		}
	})
	for i := range wanted {
		if wanted[i].err != nil {
			return found, wanted[i].err
		}
	}
	return found, nil
}

// readType reads the rows of one type, each once, and puts them into their places.
func (rd Nodes) readType(ctx context.Context, v access.Viewer, t *catalog.Type, of *nodesOf,
	to []record.Record) error {
	allowed := v.LevelOf(t.Rule)
	if allowed == access.Refused {
		return v.Refusal(t.Name)
	}
	if err := rd.served.knowsOwner(ctx, t, allowed); err != nil {
		return rd.Errors().Read(ctx, err, t.Name)
	}
	g := Target{Type: t, Index: driver.Primary, Whole: t.Model.SK.Layout.Exists()}
	find, err := rd.JoinKeys(ctx, g)
	if err != nil {
		return err
	}
	rows, at := distinct{}, make([]int, len(of.vals))
	for i, vals := range of.vals {
		key, leads, err := find.Of(vals...)
		if err != nil {
			return rd.served.asked(ctx, t.Model, err)
		}
		if !leads || rd.db.Validate(t.Model, &querydb.Row{Key: key.Key}) != nil {
			at[i] = -1 // no row can have it
			continue
		}
		at[i] = rows.place(key.Key)
	}
	recs := make([]record.Record, len(rows.keys))
	if err := (batches{rd: rd.Reader, distinct: true}).fetch(ctx, allowed, g, rows.keys, recs); err != nil {
		return rd.Errors().Read(ctx, err, t.Name)
	}
	for i, place := range at {
		if place >= 0 {
			to[of.places[i]] = recs[place]
		}
	}
	return nil
}
