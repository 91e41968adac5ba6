package dynamostore

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
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
func stateOf(it item, writer string) state {
	_, own := it[attrOwn].(*types.AttributeValueMemberM)
	others := slices.ContainsFunc(textsOf(it[attrWriters]), func(name string) bool { return name != writer })
	return state{deleted: it[attrDeleted] != nil, own: own, others: others}
}

// writersOf returns those that the row consists of parts of, ascending.
func writersOf(it item) []string {
	list := slices.Clone(textsOf(it[attrWriters]))
	slices.Sort(list)
	return list
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
		c.also(sole, nameWriters, attrWriters)
		c.values[valueMe] = setOf(c.writer)
		if c.slot != "" {
			c.setUpdate(s.tombstone(c.now), nil)
		}
		return nil
	}
	p := partEncoder{change: c, vals: make([]value, len(s.columns)), touched: make([]bool, len(s.columns)), own: item{}}
	row := &w.Row
	if w.Kind == driver.Delete {
		c.also("attribute_exists("+nameWriters+")", nameWriters, attrWriters)
		c.also(nameWriters+" <> "+valueMe, nameWriters, attrWriters)
		row = nil
	} else {
		c.names[nameWriters] = attrWriters
	}
	c.values[valueMe] = setOf(c.writer)
	if err := p.encode(row); err != nil {
		return err
	}
	c.setUpdate(p.vals, &p)
	return nil
}

// partEncoder makes the values of the columns that a part has.
type partEncoder struct {
	*change
	vals    []value
	touched []bool   // columns that the part has
	own     item     // values that are in _own
	owns    []string // fields whose value may be there
}

// encode sets what the part of a row is, or takes it away where there is no row.
func (p *partEncoder) encode(row *driver.Row) error {
	s, part := p.shape, p.write.Part
	for _, i := range part.PK {
		if err := p.half(row, 2*i, s.table.Indexes[i].PK); err != nil {
			return err
		}
	}
	for _, i := range part.SK {
		if err := p.half(row, 2*i+1, s.table.Indexes[i].SK); err != nil {
			return err
		}
	}
	fields := part.Fields
	if row != nil {
		fields = slices.Concat(s.table.PK, s.table.SK, fields)
		slices.Sort(fields)
		fields = slices.Compact(fields)
	}
	for _, f := range fields {
		if err := p.field(row, f); err != nil {
			return fmt.Errorf("%w: field %s: %w", driver.ErrInvalid, s.table.Fields[f].Name, err)
		}
	}
	p.ends(row)
	p.owned()
	if s.marked >= 0 {
		p.set(s.marked, text(s.table.Kind))
	}
	return nil
}

func (p *partEncoder) set(column int, v value) { p.vals[column], p.touched[column] = v, true }

// half sets a half of an index's key that is composed of the fields. One that is composed of none of the writer's own
// is written by all writers, and stays as long as there is one.
func (p *partEncoder) half(row *driver.Row, i int, of []int) error {
	place := p.shape.halves[i]
	if place.column < 0 {
		return nil // of the table's own key
	}
	own := func(f int) bool { return slices.Contains(p.write.Part.Fields, f) }
	if row == nil && !slices.ContainsFunc(of, own) {
		return nil
	}
	var v value
	if row != nil && i/2 < len(row.Indexes) {
		if err := checkTexts(row.Indexes[i/2].Key); err != nil {
			return fmt.Errorf("index %s: %w", p.shape.table.Indexes[i/2].Name, err)
		}
		if half, there := halfOf(row, i); there {
			v = text(half)
		}
	}
	p.set(place.column, v)
	return nil
}

// field sets a field.
func (p *partEncoder) field(row *driver.Row, f int) error {
	s := p.shape
	field, place := &s.table.Fields[f], &s.fields[f]
	var v value
	kept := true
	if row != nil {
		var err error
		if v, kept, err = fieldValue(field, row.Record.JSON(f)); err != nil {
			return err
		}
	}
	if place.attr == "" || place.keyed || isNumber(field) {
		p.owns = append(p.owns, field.Name)
	}
	switch {
	case place.keyed:
		held, taken := p.held(place)
		keyedField(p.own, field, v, held, taken)
	case place.attr == "" || !kept:
		if v != nil {
			p.own[field.Name] = v
		}
		v = nil
		fallthrough
	default:
		if place.column >= 0 {
			p.set(place.column, v)
		}
	}
	return nil
}

// held is the text of the key half that has the field's attribute.
func (p *partEncoder) held(place *fieldPlace) (half string, there bool) {
	if place.column >= 0 {
		return stringOf(p.vals[place.column])
	}
	return stringOf(p.key[place.attr])
}

// ends sets when the row ends, where that is the writer's to say. A row that was deleted has an end that is nobody's.
// DynamoDB does not remove a row that has ended: the others' parts of it do not end with the writer's.
func (p *partEncoder) ends(row *driver.Row) {
	s := p.shape
	switch {
	case p.write.Part.Expires || s.table.NoExpiry:
		var expires value
		if row != nil && !row.Expires.IsZero() && p.write.Part.Expires {
			expires = number(instantText(row.Expires))
		}
		p.set(s.expires, expires)
		p.set(s.ttl, nil)
		p.set(s.deleted, nil)
	case p.state.others: // it is no tombstone
	case p.state.deleted:
		p.is(true, nameDeleted, attrDeleted)
		p.set(s.ttl, nil)
		p.set(s.deleted, nil)
	default:
		p.is(false, nameDeleted, attrDeleted)
	}
}

// owned sets the values in _own: all of it, or, where others may have values there, each by itself.
func (p *partEncoder) owned() {
	if len(p.owns) == 0 {
		return
	}
	p.is(p.state.own, nameOwn, attrOwn)
	if p.state.own {
		return
	}
	if len(p.own) > 0 {
		p.set(p.shape.own, &types.AttributeValueMemberM{Value: p.own})
	}
}

// extend adds to an update what is no column: the writer among those that the row has, and values in _own.
func (p *partEncoder) extend(e *expression) {
	if p.write.Kind == driver.Delete {
		e.drop = appendPair(e.drop, nameWriters, valueMe)
	} else {
		e.add = appendPair(e.add, nameWriters, valueMe)
	}
	p.size += len(attrWriters) + valueSize(p.values[valueMe])
	if !p.state.own {
		return
	}
	for i, field := range p.owns {
		n := strconv.Itoa(i)
		path := nameOwn + ".#o" + n
		p.names["#o"+n] = field
		if v := p.own[field]; v != nil {
			e.set = appendSet(e.set, path, ":o"+n)
			p.values[":o"+n] = v
			p.size += 1 + len(field) + valueSize(v)
		} else {
			e.remove = append(append(e.remove, ','), path...)
		}
	}
}
