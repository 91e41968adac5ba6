package former

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Fill replaces what is not known of a record by any text of its type, for who reads all of the record and asks for
// other fields alone. filled is false where all is known.
func Fill(s Schema, rec record.Record) (out record.Record, filled bool, err error) {
	var b record.Builder
	f := filler{Schema: s}
	b.Begin(len(s.Fields))
	for i := range s.Fields {
		b.JSON(f.fill(&s.Fields[i], rec.JSON(i)))
	}
	out, _, err = b.Finish()
	return out, f.filled, err
}

type filler struct {
	Schema
	filled bool
}

func (s *filler) fill(f *driver.Field, text []byte) []byte {
	switch {
	case text == nil:
		return nil
	case record.IsUnknown(text):
		s.filled = true
		return s.anyText(f)
	case len(f.Object) == 0:
		return text
	case !f.List:
		return s.fillObject(f, text)
	}
	out := []byte{'['}
	record.List(text, func(elem []byte) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, s.fillObject(f, elem)...)
		return true
	})
	return append(out, ']')
}

func (s *filler) fillObject(f *driver.Field, text []byte) []byte {
	fields := make([][]byte, len(f.Object))
	record.Object(text, fields)
	out := []byte{'['}
	for i := range f.Object {
		if i > 0 {
			out = append(out, ',')
		}
		inner := s.fill(&f.Object[i], fields[i])
		if inner == nil {
			inner = []byte("null")
		}
		out = append(out, inner...)
	}
	return append(out, ']')
}

// anyText is a text of the field's type.
func (s *filler) anyText(f *driver.Field) []byte {
	switch {
	case f.Nullable:
		return nil
	case f.List:
		return []byte("[]")
	case len(f.Object) > 0:
		return s.anyObject(f)
	case f.Enum != "" && len(s.Enums[f.Enum]) > 0:
		return []byte(`"` + s.Enums[f.Enum][0] + `"`)
	}
	switch f.Scalar {
	case "Boolean":
		return []byte("false")
	case "Int", "Float":
		return []byte("0")
	case "Int64", "Decimal":
		return []byte(`"0"`)
	case "Date":
		return []byte(`"2000-01-01"`)
	case "DateTime":
		return []byte(`"2000-01-01T00:00:00.000Z"`)
	}
	return []byte(`""`)
}

func (s *filler) anyObject(f *driver.Field) []byte {
	unknown := make([]byte, 0, 2*len(f.Object)+2)
	unknown = append(unknown, '[')
	for i := range f.Object {
		if i > 0 {
			unknown = append(unknown, ',')
		}
		unknown = append(unknown, record.Unknown...)
	}
	return s.fillObject(f, append(unknown, ']'))
}
