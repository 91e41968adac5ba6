package readmodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// keyReader reads the primary key of a model with a table of its own.
type keyReader struct{ *draft.Model }

const defaultSep = "/"

// readKey reads the primary key: @id or @compositeId, @subId or @compositeSubId.
func (d *keyReader) readKey() {
	d.PK, d.CompositePK = d.readHalf("id", "compositeId")
	d.SK, d.CompositeSK = d.readHalf("subId", "compositeSubId")
	for _, f := range d.SK.Fields {
		if len(d.PK.Fields) == 0 {
			d.Report(rule.SubIDWithoutID, f.Pos, f)
			break
		}
		if slices.Contains(d.PK.Fields, f) {
			d.Report(rule.KeyHalves, f.Pos, f)
		}
	}
	for _, f := range slices.Concat(d.PK.Fields, d.SK.Fields) {
		if f.Nullable && !f.List {
			d.Report(rule.KeyNullable, f.Pos, f, d.DeclaredType(f))
		}
		d.CheckKeyField(f, f.Pos)
	}
}

// readHalf reads one half of the primary key, which is one field or a composite.
func (d *keyReader) readHalf(single, composite string) (half schema.Half, isComposite bool) {
	ones, parts := d.Marked(single), d.Marked(composite)
	switch {
	case len(ones) > 0 && len(parts) > 0:
		for _, m := range ones {
			d.Report(rule.IdAndComposite, sdl.Position(m.Dir.Position), m.Field, single, composite, parts[0].Field.Name)
		}
		return d.composite(parts), true
	case len(parts) > 0:
		return d.composite(parts), true
	case len(ones) > 1:
		for _, m := range ones[1:] {
			d.Report(rule.TwoIDs, sdl.Position(m.Dir.Position), m.Field, single, ones[0].Field.Name, composite)
		}
	}
	if len(ones) > 0 {
		return schema.NewHalf(defaultSep, ones[0].Field), false
	}
	return schema.Half{}, false
}

// composite joins fields with the separator that one or all of them give.
func (d *keyReader) composite(parts []draft.Marked) schema.Half {
	var fields []*schema.Field
	used, given := defaultSep, false
	for _, m := range parts {
		fields = append(fields, m.Field)
		sep, ok := sdl.Text(m.Dir, "sep")
		switch {
		case !ok:
		case given && sep != used:
			d.Report(rule.SepConflict, sdl.ArgumentPosition(m.Dir, "sep"), m.Field, strconv.Quote(sep), strconv.Quote(used))
		default:
			used, given = sep, true
			d.checkSep(used, m, parts)
		}
	}
	return schema.NewHalf(used, fields...)
}

// separators may stand between the parts of a key: punctuation of one byte. % is missing, it begins an escape.
const separators = "!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"

func (d *keyReader) checkSep(sep string, m draft.Marked, parts []draft.Marked) {
	if len(sep) != 1 || !strings.Contains(separators, sep) {
		d.Report(rule.SepForm, sdl.ArgumentPosition(m.Dir, "sep"), m.Field, strconv.Quote(sep))
		return
	}
	if m.Dir.Name != "compositeSubId" {
		return
	}
	for _, p := range parts {
		if strings.Contains(punctuationOf[p.Field.Scalar], sep) {
			d.Report(rule.SepEscaped, sdl.ArgumentPosition(m.Dir, "sep"), m.Field, strconv.Quote(sep), p.Field.Name,
				fmt.Sprintf("%%%02X", sep[0]))
		}
	}
}

// punctuationOf is the punctuation in the text of dates, which operands spell out. (Nobody spells numbers out.)
var punctuationOf = map[string]string{"Date": "-", "DateTime": "-:."}

// checkSingleton wants it said that a model has one row: a key that was forgotten would make one of all rows.
func (d *keyReader) checkSingleton() {
	said := d.Setting("singleton")
	switch meant := said != nil && sdl.Flag(said, "singleton"); {
	case meant && d.Entity != nil:
		d.Report(rule.KeyOfSingleton, sdl.ArgumentPosition(said, "singleton"), nil, "the primary key of an entity")
	case d.Entity != nil:
	case meant && len(d.PK.Fields) > 0:
		d.Report(rule.KeyOfSingleton, sdl.ArgumentPosition(said, "singleton"), nil, d.PK.Describe())
	case !meant && len(d.PK.Fields)+len(d.SK.Fields)+len(d.Indexes) == 0:
		d.Report(rule.NoKey, d.Pos, nil, d.Marks[0].Name)
	}
}
