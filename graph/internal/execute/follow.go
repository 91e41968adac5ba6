package execute

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// follower finds where the rows of a node lead by one of its joins, and notes that for the joined node.
type follower struct {
	js     *Joins
	join   *plan.Join
	child  *nodeRows
	find   read.JoinKeys
	fields []driver.Field // of the rows that lead
}

// follow notes which rows a row leads to.
func (f *follower) follow(rec record.Record) {
	if len(f.join.By) > 1 {
		f.followKey(rec)
		return
	}
	child, field, text := f.child, &f.fields[f.join.By[0]], rec.JSON(f.join.By[0])
	switch {
	case text == nil:
	case record.IsUnknown(text):
		child.refs = append(child.refs, unknown)
	case child.denied != nil:
		child.refs = append(child.refs, unreadable)
	case !field.List:
		child.refs = append(child.refs, f.ref(field, text))
	default:
		ok := record.List(text, func(elem []byte) bool {
			child.refs = append(child.refs, f.ref(field, elem))
			return true
		})
		if !ok {
			child.refs = append(child.refs, f.unreadable(errNoList))
		}
	}
}

// followKey notes which row several values of a row lead to together: none where one of them is null.
func (f *follower) followKey(rec record.Record) {
	isNull, isUnknown := lacks(rec, f.join.By)
	ref := int32(unreadable)
	switch {
	case isNull:
		return
	case isUnknown:
		ref = unknown
	case f.child.denied == nil:
		ref = f.place(f.find.OfRow(f.fields, rec, f.join.By))
	}
	f.child.refs = append(f.child.refs, ref)
}

// lacks reports whether one of the fields of a row is null, or not known.
func lacks(rec record.Record, fields []int) (isNull, isUnknown bool) {
	for _, ordinal := range fields {
		text := rec.JSON(ordinal)
		isNull = isNull || text == nil
		isUnknown = isUnknown || record.IsUnknown(text)
	}
	return isNull, isUnknown
}

// ref returns the place of the row that an id leads to among the rows of the joined node.
func (f *follower) ref(field *driver.Field, text []byte) int32 {
	return f.place(f.find.OfStored(field, text))
}

// place returns the place of the row at a join key, as it was found.
func (f *follower) place(at read.JoinKey, ok bool, err error) int32 {
	if err != nil {
		return f.unreadable(err)
	}
	if !ok {
		return nowhere
	}
	return f.js.refTo(f.child, &at)
}

var errNoList = errors.New("it is no list")

// unreadable is the reference of a stored id that is no value of its type. The log has the first of a join.
func (f *follower) unreadable(err error) int32 {
	if f.child.damage == nil {
		f.child.damage = f.js.damage(f.join.Type, f.join.Field, err)
	}
	return unreadable
}

// damage is the error of rows of a type to which a field leads whose stored value cannot be read.
func (js *Joins) damage(t *catalog.Type, field string, err error) error {
	return js.rd.Errors().Internal(js.ctx, fmt.Errorf("what is stored for the field %s: %w", field, err), t.Name)
}
