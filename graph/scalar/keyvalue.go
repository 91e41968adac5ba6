package scalar

import "github.com/foldql/foldql/keys"

// KeyValue reads an input for the scalar of that name as a value of a key. Its errors are those of the function that
// reads the scalar; what is no scalar of this package has no values.
func KeyValue(name string, v any) (keys.Value, error) {
	switch name {
	case "ID":
		return keyValue(v, UnmarshalID, keys.String)
	case "String":
		return keyValue(v, UnmarshalString, keys.String)
	case "Boolean":
		return keyValue(v, UnmarshalBoolean, keys.Boolean)
	case "Int":
		return keyValue(v, UnmarshalInt, func(n int) keys.Value { return keys.Int(int64(n)) })
	case "Int64":
		return keyValue(v, UnmarshalInt64, keys.Int)
	case "Float":
		return keyValue(v, UnmarshalFloat, keys.Float)
	case "Decimal":
		return keyValue(v, UnmarshalDecimal, keys.DecimalOf)
	case "Date":
		return keyValue(v, UnmarshalDate, keys.DateOf)
	case "DateTime":
		return keyValue(v, UnmarshalDateTime, keys.DateTime)
	}
	return keys.Value{}, TypeError(name, v)
}

func keyValue[T any](v any, read func(any) (T, error), value func(T) keys.Value) (keys.Value, error) {
	in, err := read(v)
	if err != nil {
		return keys.Value{}, err
	}
	return value(in), nil
}
