package execute

import (
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// leads finds where the rows of a node lead by one of its joins, and notes that for the joined node.
type leads struct {
	js     *Joins
	join   *plan.Join
	child  *nodeRows
	find   read.JoinKeys
	fields []driver.Field // of the rows that lead
}

// follow notes which rows a row leads to.
func (l *leads) follow(rec record.Record) {
	if len(l.join.By) > 1 {
		l.followKey(rec)
		return
	}
	child, field, text := l.child, &l.fields[l.join.By[0]], rec.JSON(l.join.By[0])
	switch {
	case text == nil:
	case record.IsUnknown(text):
		child.refs = append(child.refs, unknown)
	case child.denied != nil:
		child.refs = append(child.refs, unreadable)
	case !field.List:
		child.refs = append(child.refs, l.ref(field, text))
	default:
		ok := record.List(text, func(elem []byte) bool {
			child.refs = append(child.refs, l.ref(field, elem))
			return true
		})
		if !ok {
			child.refs = append(child.refs, unreadable)
		}
	}
}

// followKey notes which row several values of a row lead to together: none where one of them is null.
func (l *leads) followKey(rec record.Record) {
	isNull, isUnknown := lacks(rec, l.join.By)
	ref := int32(unreadable)
	switch {
	case isNull:
		return
	case isUnknown:
		ref = unknown
	case l.child.denied == nil:
		ref = l.place(l.find.OfRow(l.fields, rec, l.join.By))
	}
	l.child.refs = append(l.child.refs, ref)
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
func (l *leads) ref(field *driver.Field, text []byte) int32 {
	return l.place(l.find.OfStored(field, text))
}

// place returns the place of the row at a join key, as it was found.
func (l *leads) place(at read.JoinKey, ok bool, err error) int32 {
	if err != nil {
		l.js.rd.Config.Logger.ErrorContext(l.js.ctx, "stored id unreadable", "field", l.join.Field, "target",
			l.join.Type.Name, "error", err)
		return unreadable
	}
	if !ok {
		return nowhere
	}
	return l.js.refTo(l.child, at)
}
