package write

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// A writer of a part of a row does not know what else is in the item, and an update can do one thing only. Where what
// it is to do depends on the item, it is made for an item in some state, and its condition says so; where the item is
// in another, the update is made again for that one: see conditionFailed.

// state is what the update of a part depends on.
type state struct {
	deleted bool // the item is a tombstone
	own     bool // it has the map _own
	others  bool // it has parts of other writers
}

// stateOf returns the state of an item as the writer has it before it.
func stateOf(it item.Item, writer string) state {
	_, own := it[layout.AttrOwn].(*types.AttributeValueMemberM)
	others := slices.ContainsFunc(item.TextsOf(it[layout.AttrWriters]), func(name string) bool { return name != writer })
	return state{deleted: it[layout.AttrDeleted] != nil, own: own, others: others}
}

// inState makes the change of a part for an item in the state.
func (c *change) inState(st state) (*change, error) {
	w := c.write
	next, err := begin(c.shape, w, c.writer, c.now)
	if err != nil {
		return nil, err
	}
	next.state, next.reread = st, c.reread
	return next, next.partly()
}

// partly sets what the change of a part does.
func (c *change) partly() error {
	s, w := c.shape, c.write
	if w.Kind == driver.Delete && !c.state.others {
		sole := "attribute_not_exists(" + nameWriters + ") OR " + nameWriters + " = " + valueMe
		c.also(sole, nameWriters, layout.AttrWriters)
		c.values[valueMe] = item.SetOf(c.writer)
		if c.slot != "" {
			c.setUpdate(s.Tombstone(c.now), nil)
		}
		return nil
	}
	p := partEncoder{change: c, vals: make([]item.Value, len(s.Columns)), touched: make([]bool, len(s.Columns)),
		own: item.Item{}}
	row := &w.Row
	if w.Kind == driver.Delete {
		c.also("attribute_exists("+nameWriters+")", nameWriters, layout.AttrWriters)
		c.also(nameWriters+" <> "+valueMe, nameWriters, layout.AttrWriters)
		row = nil
	} else {
		c.names[nameWriters] = layout.AttrWriters
	}
	c.values[valueMe] = item.SetOf(c.writer)
	if err := p.encode(row); err != nil {
		return err
	}
	c.setUpdate(p.vals, &p)
	return p.checkLength()
}

// partEncoder makes the values of the columns that a part has.
type partEncoder struct {
	*change
	vals    []item.Value
	touched []bool    // columns that the part has
	own     item.Item // values that are in _own
	owns    []string  // fields whose value may be there
}

// encode sets what the part of a row is, or takes it away where there is no row.
func (p *partEncoder) encode(row *driver.Row) error {
	s, part := p.shape, p.write.Part
	for _, i := range part.PK {
		if err := p.half(row, 2*i, s.Table.Indexes[i].PK); err != nil {
			return err
		}
	}
	for _, i := range part.SK {
		if err := p.half(row, 2*i+1, s.Table.Indexes[i].SK); err != nil {
			return err
		}
	}
	fields := part.Fields
	if row != nil {
		fields = slices.Concat(s.Table.PK, s.Table.SK, fields)
		slices.Sort(fields)
		fields = slices.Compact(fields)
	}
	for _, f := range fields {
		if err := p.field(row, f); err != nil {
			return fmt.Errorf("%w: field %s: %w", driver.ErrInvalid, s.Table.Fields[f].Name, err)
		}
	}
	p.ends(row)
	p.owned()
	if s.Marked >= 0 {
		p.set(s.Marked, item.Text(s.Table.Kind))
	}
	return nil
}

func (p *partEncoder) set(column int, v item.Value) { p.vals[column], p.touched[column] = v, true }

// half sets a half of an index's key that is composed of the fields. One that is composed of none of the writer's own
// is written by all writers, and stays as long as there is one.
func (p *partEncoder) half(row *driver.Row, i int, of []int) error {
	place := p.shape.Halves[i]
	if place.Column < 0 {
		return nil // of the table's own key
	}
	own := func(f int) bool { return slices.Contains(p.write.Part.Fields, f) }
	if row == nil && !slices.ContainsFunc(of, own) {
		return nil
	}
	var v item.Value
	if row != nil && i/2 < len(row.Indexes) {
		if err := item.CheckTexts(row.Indexes[i/2].Key); err != nil {
			return fmt.Errorf("index %s: %w", p.shape.Table.Indexes[i/2].Name, err)
		}
		if half, there := item.HalfOf(row, i); there {
			v = item.Text(half)
		}
	}
	p.set(place.Column, v)
	return nil
}

// field sets a field.
func (p *partEncoder) field(row *driver.Row, f int) error {
	s := p.shape
	field, place := &s.Table.Fields[f], &s.Fields[f]
	var v item.Value
	kept := true
	if row != nil {
		var err error
		if v, kept, err = item.FieldValue(field, row.Record.JSON(f)); err != nil {
			return err
		}
	}
	if place.Attr == "" || place.Keyed || layout.HasNumber(field) {
		p.owns = append(p.owns, field.Name)
	}
	switch {
	case place.Keyed:
		held, taken := p.held(place)
		item.KeyedField(p.own, field, v, held, taken)
	case place.Attr == "" || !kept:
		if v != nil {
			p.own[field.Name] = v
		}
		v = nil
		fallthrough
	default:
		if place.Column >= 0 {
			p.set(place.Column, v)
		}
	}
	return nil
}

// held is the text of the key half that has the field's attribute.
func (p *partEncoder) held(place *item.FieldPlace) (half string, there bool) {
	if place.Column >= 0 {
		return item.StringOf(p.vals[place.Column])
	}
	return item.StringOf(p.key[place.Attr])
}

// ends sets when the row ends, where that is the writer's to say. A row that was deleted has an end that is nobody's.
// DynamoDB does not remove a row of several writers that has ended: the others' parts of it do not end with the
// writer's. A row with one writer, such as that of the history of a time series, ends as a whole.
func (p *partEncoder) ends(row *driver.Row) {
	s := p.shape
	switch {
	case p.write.Part.Expires || s.Table.NoExpiry:
		var expires, removal item.Value
		if row != nil && !row.Expires.IsZero() && p.write.Part.Expires {
			expires = item.Number(item.InstantText(row.Expires))
			if p.write.Part.WriterCount == 1 {
				removal = item.Removal(row.Expires, p.now)
			}
		}
		p.set(s.Expires, expires)
		p.set(s.TTL, removal)
		p.set(s.Deleted, nil)
	case p.write.Kind == driver.Delete: // of a row with parts of others, so it is no tombstone
	case p.state.deleted:
		p.is(true, nameDeleted, layout.AttrDeleted)
		p.set(s.TTL, nil)
		p.set(s.Deleted, nil)
	default:
		p.is(false, nameDeleted, layout.AttrDeleted)
	}
}

// owned sets the values in _own: all of it, or, where others may have values there, each by itself.
func (p *partEncoder) owned() {
	if len(p.owns) == 0 {
		return
	}
	p.is(p.state.own, nameOwn, layout.AttrOwn)
	if p.state.own {
		return
	}
	if len(p.own) > 0 {
		p.set(p.shape.Own, &types.AttributeValueMemberM{Value: p.own})
	}
}

// extend adds to an update what is no column: the writer among those that the row has, and values in _own.
func (p *partEncoder) extend(e *expression) {
	if p.write.Kind == driver.Delete {
		e.drop = appendPair(e.drop, nameWriters, valueMe)
	} else {
		e.add = appendPair(e.add, nameWriters, valueMe)
	}
	p.size += len(layout.AttrWriters) + item.ValueSize(p.values[valueMe])
	if !p.state.own {
		return
	}
	for i, field := range p.owns {
		name, value := ownPlaceholders(i)
		p.names[name] = field
		if v := p.own[field]; v != nil {
			e.set = appendSet(e.set, ownPath+name, value)
			p.values[value] = v
			p.size += 1 + len(field) + item.ValueSize(v)
		} else {
			e.remove = append(append(e.remove, ','), ownPath+name...)
		}
	}
}

// ownPath leads to a value in _own.
const ownPath = nameOwn + "."

// ownPlaceholders are those of the i-th field whose value may be in _own.
func ownPlaceholders(i int) (name, value string) {
	n := strconv.Itoa(i)
	return "#o" + n, ":o" + n
}

// checkLength refuses a part whose update is too long, as it may be for a row that has _own. One that gives the row
// _own has to be short enough for it too: else it would be the last that the writer makes of the row.
func (p *partEncoder) checkLength() error {
	longest := len(p.update)
	if !p.state.own && len(p.own) > 0 {
		longest += len(" REMOVE ")
		for i, field := range p.owns {
			name, value := ownPlaceholders(i)
			longest += len(",") + len(ownPath) + len(name)
			if p.own[field] != nil {
				longest += len("=") + len(value)
			}
		}
	}
	if longest <= item.MostExpression {
		return nil
	}
	return fmt.Errorf("%w: the row has a value that is no number or key of DynamoDB, so that the update of what %s "+
		"writes has %d bytes, of %d that DynamoDB takes: have it write fewer fields, of which those with numbers and those "+
		"in keys of indexes take the most", driver.ErrTooLarge, p.writer, longest, item.MostExpression)
}
