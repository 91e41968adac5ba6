package dynamostore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
)

// change is the request that a write becomes: an UpdateItem, or a DeleteItem where no update is given.
//
// An update names every attribute that a row can have, and sets or removes it; so it replaces the row, and leaves the
// positions of other slots, which it does not know. It takes effect if the condition holds:
//
//	blind, with a position   the slot has no position, or a lower one
//	read                     the revision is the one that was read
//	neither                  always
//
// Where models share a table, the item must also be of no other kind.
//
// Sent again after its answer was lost, a change meets its own traces. A blind one fails its condition, and was
// applied. One of neither kind is applied again, to the same effect. One that was read fails its condition too, which
// looks like the work of another writer; so it asks for the item that it met, and knows its own by revision, slot and
// position together: see ours.
type change struct {
	table     string
	row       string // the row's key, for messages
	key       item
	update    string // "" deletes the item, or only checks it
	check     bool   // nothing is written
	condition string // "" for none
	names     map[string]string
	values    item
	size      int // bytes of the item, positions of other slots aside

	read     bool
	revision uint64 // that was read
	slot     string // "" without a position
	position string

	shape  *shape
	write  *driver.Write
	writer string
	now    time.Time // of the write
	part   *driver.Part
	state  state // that the change of a part is made for
	reread bool  // the row was read here, and can be again
	claim  *claim
}

// changeOf makes the request of a write by the writer. It fails with ErrInvalid or ErrTooLarge, naming the row, where
// DynamoDB would refuse it.
func (s *shape) changeOf(w *driver.Write, writer string, now time.Time) (*change, error) {
	c, err := s.makeChange(w, writer, now)
	if err == nil {
		err = c.fits()
	}
	if err != nil {
		return nil, fmt.Errorf("dynamostore: table %s, row %s: %w", s.layout.table, driver.PrintableKey(w.Row.Key), err)
	}
	return c, nil
}

// fits refuses an item that is too large. A part of one has as much room as each of the others, whatever is there: how
// large the item becomes is known before a request is sent.
func (c *change) fits() error {
	if c.part == nil || c.part.WriterCount < 2 {
		if c.size > mostRow {
			return fmt.Errorf("%w: the item has %d bytes, and may have %d", driver.ErrTooLarge, c.size, mostRow)
		}
		return nil
	}
	if share := mostRow / c.part.WriterCount; c.size > share {
		return fmt.Errorf("%w: what %s writes of the item has %d bytes, and may have %d: %d projections write "+
			"it, each up to "+
			"its share of %d",
			driver.ErrTooLarge, c.writer, c.size, share, c.part.WriterCount, mostRow)
	}
	return nil
}

func (s *shape) makeChange(w *driver.Write, writer string, now time.Time) (*change, error) {
	c, err := s.begin(w, writer, now)
	if err != nil || c.check {
		return c, err
	}
	if w.Part != nil {
		return c, c.partly()
	}
	if w.Kind == driver.Delete && c.slot == "" {
		return c, nil
	}
	vals := s.tombstone(now)
	if w.Kind == driver.Put {
		if vals, err = s.encode(&w.Row, now); err != nil {
			return nil, err
		}
	}
	s.write(c, vals, nil)
	return c, nil
}

// begin makes a change with its condition, that does nothing yet.
func (s *shape) begin(w *driver.Write, writer string, now time.Time) (*change, error) {
	if err := s.checkKey(w.Row.Key); err != nil {
		return nil, err
	}
	c := &change{
		table: s.layout.table, row: driver.PrintableKey(w.Row.Key), key: s.key(w.Row.Key), names: map[string]string{},
		values: item{},
		read:   w.IfRevision, revision: w.Row.Revision, check: w.Kind == driver.CheckRevision,
		shape: s, write: w, writer: writer, now: now, part: w.Part,
	}
	if err := c.place(&w.Row.Position, writer); err != nil {
		return nil, err
	}
	c.require()
	return c, nil
}

// tombstone returns the values of the columns of a deleted row.
func (s *shape) tombstone(now time.Time) []value {
	vals := make([]value, len(s.columns))
	vals[s.deleted], vals[s.ttl] = &types.AttributeValueMemberBOOL{Value: true}, wholeSeconds(now.Add(keepDeleted))
	s.mark(vals)
	return vals
}

// place notes where the write stands.
func (c *change) place(p *driver.Position, writer string) error {
	switch {
	case *p == driver.Position{}:
		return nil
	case p.Step > mostSteps:
		return fmt.Errorf("%w: %d events are retried after the one at %d, and at most %d can be", driver.ErrInvalid, p.Step,
			p.Offset, mostSteps)
	case !utf8.ValidString(p.Partition) || !utf8.ValidString(writer):
		return fmt.Errorf("%w: the partition %q of writer %q is no UTF-8", driver.ErrInvalid, p.Partition, writer)
	}
	c.slot, c.position = slotOf(writer, p.Partition), positionText(*p)
	return nil
}

// require sets the condition.
func (c *change) require() {
	switch {
	case c.read && c.revision == 0:
		c.names[nameRev] = attrRev
		c.condition = "attribute_not_exists(" + nameRev + ")"
	case c.read:
		c.names[nameRev], c.values[valueRead] = attrRev, count(c.revision)
		c.condition = nameRev + " = " + valueRead
	case c.slot != "":
		c.names[namePos], c.values[valuePos] = attrPos+c.slot, number(c.position)
		c.condition = "attribute_not_exists(" + namePos + ") OR " + namePos + " < " + valuePos
	}
	if s := c.shape; s.kind != "" {
		c.also("attribute_not_exists("+nameKind+") OR "+nameKind+" = "+valueKind, nameKind, s.kind)
		c.values[valueKind] = text(s.table.Kind)
	}
}

// write sets the update expression, and the size that the item will have, or that the part of it has.
func (s *shape) write(c *change, vals []value, part *partEncoder) {
	e := expression{set: make([]byte, 0, 512), remove: make([]byte, 0, 128)}
	for i, v := range vals {
		if part != nil && !part.touched[i] {
			continue
		}
		column := &s.columns[i]
		c.names[column.name] = column.attr
		if v == nil {
			e.remove = append(append(e.remove, ','), column.name...)
			continue
		}
		e.set = appendSet(e.set, column.name, column.value)
		c.values[column.value] = v
		c.size += len(column.attr) + valueSize(v)
	}
	c.names[nameBy] = attrBy
	if c.slot != "" {
		e.set = appendSet(appendSet(e.set, namePos, valuePos), nameBy, valueBy)
		c.names[namePos], c.values[valuePos], c.values[valueBy] = attrPos+c.slot, number(c.position), text(c.slot)
		c.size += len(attrPos) + len(attrBy) + 2*len(c.slot) + numberSize(c.position)
	} else {
		e.remove = append(append(e.remove, ','), nameBy...)
	}
	if part != nil {
		part.extend(&e)
	}
	c.names[nameRev], c.values[valueOne] = attrRev, number("1")
	c.size += len(attrRev) + numberSize(strconv.FormatUint(c.revision, 10))
	for name, v := range c.key {
		c.size += len(name) + valueSize(v)
	}
	e.add = appendPair(e.add, nameRev, valueOne)
	c.update = e.String()
}

// expression is the clauses of an update, each of which begins with a comma for every part.
type expression struct{ set, remove, drop, add []byte }

func appendSet(dst []byte, name, value string) []byte {
	dst = append(append(dst, ','), name...)
	return append(append(dst, '='), value...)
}

func appendPair(dst []byte, name, value string) []byte {
	dst = append(append(dst, ','), name...)
	return append(append(dst, ' '), value...)
}

// String joins the clauses.
func (e *expression) String() string {
	var b strings.Builder
	for _, clause := range [...]struct {
		verb  string
		parts []byte
	}{{"SET ", e.set}, {"REMOVE ", e.remove}, {"DELETE ", e.drop}, {"ADD ", e.add}} {
		if len(clause.parts) == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(clause.verb)
		b.Write(clause.parts[1:])
	}
	return b.String()
}

// ours reports whether the item that a read change met was written by the change itself, or by another process that
// made the same change of the same row. old is nil where there was no item.
func (c *change) ours(old item) bool {
	if c.update == "" {
		return old == nil
	}
	if c.slot == "" {
		return false // nothing tells it from the change of another; whoever sent it reads again
	}
	revision, err := countOf(old[attrRev])
	by, _ := stringOf(old[attrBy])
	position, _ := numberOf(old[attrPos+c.slot])
	return err == nil && revision == c.revision+1 && by == c.slot && samePosition(position, c.position)
}

// samePosition compares positions as numbers: DynamoDB leaves out zeros at the end of a fraction.
func samePosition(a, b string) bool {
	p, err := parsePosition(a, "")
	o, wrong := parsePosition(b, "")
	return err == nil && wrong == nil && p == o
}

// onFailure is what a failed condition answers with: the item, where there is something to learn from it.
func (c *change) onFailure() types.ReturnValuesOnConditionCheckFailure {
	if c.read || c.asks() {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

func (c *change) updateInput() *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &c.table, Key: c.key, UpdateExpression: &c.update, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ReturnValuesOnConditionCheckFailure: c.onFailure(),
	}
}

func (c *change) deleteInput() *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{
		TableName: &c.table, Key: c.key, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: given(c.names), ExpressionAttributeValues: given(c.values),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ReturnValuesOnConditionCheckFailure: c.onFailure(),
	}
}

// action is the change as a part of a transaction.
func (c *change) action() types.TransactWriteItem {
	if c.check {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &c.table, Key: c.key, ConditionExpression: &c.condition,
			ExpressionAttributeNames: c.names, ExpressionAttributeValues: given(c.values),
		}}
	}
	if c.update == "" {
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &c.table, Key: c.key, ConditionExpression: optional(c.condition),
			ExpressionAttributeNames: given(c.names), ExpressionAttributeValues: given(c.values),
			ReturnValuesOnConditionCheckFailure: c.inTransaction(),
		}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &c.table, Key: c.key, UpdateExpression: &c.update, ConditionExpression: optional(c.condition),
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
		ReturnValuesOnConditionCheckFailure: c.inTransaction(),
	}}
}

// inTransaction is onFailure in a transaction, which is known by its token, so that no change need know its own traces.
func (c *change) inTransaction() types.ReturnValuesOnConditionCheckFailure {
	if c.asks() {
		return types.ReturnValuesOnConditionCheckFailureAllOld
	}
	return types.ReturnValuesOnConditionCheckFailureNone
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return aws.String(s)
}

// given returns nil for an empty map, which DynamoDB refuses.
func given[M ~map[string]V, V any](m M) M {
	if len(m) == 0 {
		return nil
	}
	return m
}
