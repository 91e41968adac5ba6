package record

import "github.com/foldql/foldql/keys"

// KeyValue reads the JSON text of a field as a composite attribute of a key. ok is false where the text is not of the
// scalar type, by its name in GraphQL.
func KeyValue(scalar string, json []byte) (v keys.Value, ok bool) {
	switch scalar {
	case "ID", "String":
		s, ok := String(json)
		return keys.String(s), ok
	case "Boolean":
		b, ok := Boolean(json)
		return keys.Boolean(b), ok
	case "Int":
		n, ok := Int(json)
		return keys.Int(int64(n)), ok
	case "Int64":
		n, ok := Int64(json)
		return keys.Int(n), ok
	case "Float":
		n, ok := Float(json)
		return keys.Float(n), ok
	case "Decimal":
		s, ok := String(json)
		d, err := keys.ParseDecimal(s)
		return keys.DecimalOf(d), ok && err == nil
	case "Date":
		s, ok := String(json)
		d, err := keys.ParseDate(s)
		return keys.DateOf(d), ok && err == nil
	case "DateTime":
		t, ok := DateTime(json)
		return keys.DateTime(t), ok
	}
	return keys.Value{}, false
}
