package read

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// JoinKeyOfStored finds where a stored id leads, from the id's JSON text. ok is false where there can be no row.
func (rd *Reader) JoinKeyOfStored(g Target, f *driver.Field, text []byte) (s JoinKey, ok bool, err error) {
	id, ok := storedValue(f.Scalar, text)
	if !ok {
		return JoinKey{}, false, fmt.Errorf("%s is not a value of type %s", text, f.Scalar)
	}
	return rd.JoinKey(g, id)
}

// storedValue reads a scalar of a record as a composite attribute of a key.
func storedValue(scalar string, text []byte) (keys.Value, bool) {
	switch scalar {
	case "ID", "String":
		s, ok := record.String(text)
		return keys.String(s), ok
	case "Boolean":
		b, ok := record.Boolean(text)
		return keys.Boolean(b), ok
	case "Int":
		n, ok := record.Int(text)
		return keys.Int(int64(n)), ok
	case "Int64":
		n, ok := record.Int64(text)
		return keys.Int(n), ok
	case "Float":
		n, ok := record.Float(text)
		return keys.Float(n), ok
	case "Decimal":
		s, ok := record.String(text)
		d, err := keys.ParseDecimal(s)
		return keys.DecimalOf(d), ok && err == nil
	case "Date":
		s, ok := record.String(text)
		d, err := keys.ParseDate(s)
		return keys.DateOf(d), ok && err == nil
	case "DateTime":
		t, ok := record.DateTime(text)
		return keys.DateTime(t), ok
	}
	return keys.Value{}, false
}
