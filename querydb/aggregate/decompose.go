package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Decompose makes the items of a row that holds a whole object: the root first, with the key, the index keys and all
// else that the row has beside its record, and the others in the order of their keys. It fails with driver.ErrInvalid
// where a part is missing, or two elements of a list have one sort key.
func (p *Plan) Decompose(whole *driver.Row) ([]driver.Row, error) {
	d := decomposer{plan: p, pk: whole.Key.PK, root: textsOf(whole.Record, len(p.root.Object)),
		items: make([]driver.Row, 1)}
	if err := d.children(p.root, d.root); err != nil {
		return nil, err
	}
	members := d.items[1:]
	slices.SortFunc(members, func(a, b driver.Row) int { return strings.Compare(a.Key.SK, b.Key.SK) })
	if err := d.checkKeys(members); err != nil {
		return nil, err
	}
	rec, err := d.record(p.root, d.root, digestOf(members))
	if err != nil {
		return nil, err
	}
	root := *whole
	root.Record, root.Items, root.Kind = rec, nil, p.root.Kind
	if root.Indexes, err = d.rootIndexes(whole); err != nil {
		return nil, err
	}
	d.items[0] = root
	return d.items, nil
}

// decomposer makes the items of one object.
type decomposer struct {
	plan  *Plan
	pk    string
	root  [][]byte // texts of the fields of the whole object
	items []driver.Row
	build record.Builder
}

func textsOf(rec record.Record, n int) [][]byte {
	texts := make([][]byte, n)
	for i := range texts {
		texts[i] = rec.JSON(i)
	}
	return texts
}

// children adds the items of the parts of a part, whose fields have the texts.
func (d *decomposer) children(of *part, texts [][]byte) error {
	for _, c := range of.children {
		text := texts[c.Field]
		var err error
		switch {
		case c.Many:
			if !record.List(text, func(elem []byte) bool { err = d.object(c.part, elem); return err == nil }) && err == nil {
				err = notOfItsType(c.Node)
			}
		case text != nil:
			err = d.object(c.part, text)
		case !c.Optional:
			err = fmt.Errorf("%w: %s has no value: set it, or let the field be null", driver.ErrInvalid, c.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object adds the item of one object, and those of its parts.
func (d *decomposer) object(p *part, text []byte) error {
	texts := make([][]byte, len(p.Object))
	if !record.Object(text, texts) {
		return notOfItsType(p.Node)
	}
	sk, err := p.sortKey(texts)
	if err != nil {
		return err
	}
	rec, err := d.record(p, texts, "")
	if err != nil {
		return err
	}
	item := driver.Row{Key: keys.Key{PK: d.pk, SK: sk}, Record: rec, Kind: p.Kind,
		Indexes: make([]driver.IndexKey, len(p.table.Indexes))}
	if l := d.plan.shape.Local; l != nil {
		item.Indexes[l.Index] = driver.IndexKey{Key: item.Key, HasPK: true, HasSK: true}
	}
	d.items = append(d.items, item)
	return d.children(p, texts)
}

func notOfItsType(n *Node) error {
	return fmt.Errorf("%w: %s is not of its type", driver.ErrInvalid, n.Name)
}

// sortKey composes the sort key of an item of the node, whose object has the texts.
func (n *Node) sortKey(texts [][]byte) (string, error) {
	if len(n.SKFields) == 0 {
		return n.SK.Head, nil
	}
	sk, err := compose(&n.SK, n.SKFields, n.Object, texts)
	if err != nil {
		return "", fmt.Errorf("%w: an element of %s gets no sort key: %w", driver.ErrInvalid, n.Name, err)
	}
	return sk, nil
}

// compose makes a key of fields of an object.
func compose(l *keys.Layout, fields []int, object []driver.Field, texts [][]byte) (string, error) {
	vals := make([]keys.Value, len(fields))
	for i, f := range fields {
		v, ok := record.KeyValue(object[f].Scalar, texts[f])
		if !ok || object[f].Scalar == "ID" && v.AsString() == "" {
			return "", fmt.Errorf("%s has no value", object[f].Name)
		}
		vals[i] = v
	}
	return l.Compose(vals...)
}

// record makes the record of an item; digest is for the root's.
func (d *decomposer) record(p *part, texts [][]byte, digest string) (record.Record, error) {
	held := make([][]byte, len(p.table.Fields))
	at := 0
	for _, f := range p.Own {
		held[p.places[at]] = texts[f]
		at++
	}
	for _, c := range p.Constants {
		held[p.places[c.Field]] = []byte(c.JSON)
	}
	for _, c := range p.Context {
		held[p.places[c.Field]] = d.root[c.Of]
	}
	d.build.Begin(len(held))
	for i, text := range held {
		if digest != "" && p.table.Fields[i].Name == DigestField {
			d.build.String(digest)
		} else {
			d.build.JSON(text)
		}
	}
	rec, _, err := d.build.Finish()
	return rec, err
}

// rootIndexes are the index keys of the root's item: those of the row, and that of the local index.
func (d *decomposer) rootIndexes(whole *driver.Row) ([]driver.IndexKey, error) {
	l := d.plan.shape.Local
	if l == nil {
		return whole.Indexes, nil
	}
	indexes := slices.Clone(whole.Indexes)
	k := &indexes[l.Index]
	*k = driver.IndexKey{Key: keys.Key{PK: whole.Key.PK}, HasPK: true}
	for _, f := range l.Fields {
		if d.root[f] == nil {
			return indexes, nil // without the field the root is not in the index
		}
	}
	sk, err := compose(&l.SK, l.Fields, d.plan.root.Object, d.root)
	if err != nil {
		return nil, fmt.Errorf("%w: the local index: %w", driver.ErrInvalid, err)
	}
	k.SK, k.HasSK = sk, true
	return indexes, nil
}

// checkKeys refuses two items of one key; the items are in the order of their keys.
func (d *decomposer) checkKeys(items []driver.Row) error {
	for i := 1; i < len(items); i++ {
		if items[i].Key == items[i-1].Key {
			return fmt.Errorf("%w: two elements of %s have the sort key %q: keep one of them", driver.ErrInvalid,
				d.plan.nameOf(&items[i]), items[i].Key.SK)
		}
	}
	return nil
}

// nameOf is where in the object an item belongs, or its kind where it belongs nowhere.
func (p *Plan) nameOf(item *driver.Row) string {
	if part := p.partOf(item); part != nil {
		return part.Name
	}
	return item.Kind
}
