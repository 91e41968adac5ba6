package former

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Translate makes the record of the present schema of one of the former. A field that it does not say has the text
// [record.Unknown].
func (fs *Fields) Translate(b *record.Builder, rec record.Record) (record.Record, error) {
	if fs == nil || rec == nil {
		return rec, nil
	}
	b.Begin(len(fs.fields))
	for i := range fs.fields {
		f := &fs.fields[i]
		text, err := f.text(func() []byte { return rec.JSON(f.from) })
		if err != nil {
			return nil, fmt.Errorf("%w: field number %d: %w", driver.ErrDamaged, f.from, err)
		}
		b.JSON(text)
	}
	out, _, err := b.Finish()
	return out, err
}

// text is that of the field, from the former one.
func (f *field) text(former func() []byte) ([]byte, error) {
	if f.from == missing {
		return []byte(record.Unknown), nil
	}
	text := former()
	switch {
	case text == nil && f.required:
		return []byte(record.Unknown), nil
	case text == nil:
		return nil, nil
	case f.values != nil && !f.hasValues(text):
		return []byte(record.Unknown), nil
	case f.object == nil:
		return text, nil
	case !f.list:
		return f.object.appendObject(nil, text)
	}
	return f.objects(text)
}

// hasValues reports whether the text of an enum, or each of a list of them, is one of its values.
func (f *field) hasValues(text []byte) bool {
	if !f.list {
		return f.values[string(text)]
	}
	return record.List(text, func(elem []byte) bool { return f.values[string(elem)] })
}

// objects translates a list.
func (f *field) objects(text []byte) (out []byte, err error) {
	out = append(out, '[')
	whole := record.List(text, func(elem []byte) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, err = f.object.appendObject(out, elem)
		return err == nil
	})
	if err == nil && !whole {
		err = errNotOfType
	}
	return append(out, ']'), err
}

var errNotOfType = errors.New("the stored text is not of its type")

// appendObject translates an object.
func (fs *Fields) appendObject(dst, text []byte) ([]byte, error) {
	stored := make([][]byte, fs.stored)
	if !record.Object(text, stored) {
		return dst, errNotOfType
	}
	dst = append(dst, '[')
	for i := range fs.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		f := &fs.fields[i]
		inner, err := f.text(func() []byte { return stored[f.from] })
		if err != nil {
			return dst, err
		}
		if inner == nil {
			inner = []byte("null")
		}
		dst = append(dst, inner...)
	}
	return append(dst, ']'), nil
}
