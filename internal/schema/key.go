package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// keyReader reads the primary key of a model with a table of its own.
type keyReader struct{ *ModelDraft }

const defaultSep = "/"

// readKey reads the primary key: @id or @compositeId, @subId or @compositeSubId.
func (d *keyReader) readKey() {
	d.PK, d.CompositePK = d.readHalf("id", "compositeId")
	d.SK, d.CompositeSK = d.readHalf("subId", "compositeSubId")
	for _, f := range d.SK.Fields {
		if len(d.PK.Fields) == 0 {
			d.report(subIDWithoutID, f.Pos, f)
			break
		}
		if slices.Contains(d.PK.Fields, f) {
			d.report(keyHalves, f.Pos, f)
		}
	}
	for _, f := range slices.Concat(d.PK.Fields, d.SK.Fields) {
		if f.Nullable && !f.List {
			d.report(keyNullable, f.Pos, f, typeText(f))
		}
		d.checkKeyField(f, f.Pos)
	}
}

// readHalf reads one half of the primary key, which is one field or a composite.
func (d *keyReader) readHalf(single, composite string) (half Half, isComposite bool) {
	ones, parts := d.marked(single), d.marked(composite)
	switch {
	case len(ones) > 0 && len(parts) > 0:
		for _, m := range ones {
			d.report(idAndComposite, at(m.dir.Position), m.field, single, composite, parts[0].field.Name)
		}
		return d.composite(parts), true
	case len(parts) > 0:
		return d.composite(parts), true
	case len(ones) > 1:
		for _, m := range ones[1:] {
			d.report(twoIDs, at(m.dir.Position), m.field, single, ones[0].field.Name, composite)
		}
	}
	if len(ones) > 0 {
		return newHalf(defaultSep, ones[0].field), false
	}
	return Half{}, false
}

// composite joins fields with the separator that one or all of them give.
func (d *keyReader) composite(parts []marked) Half {
	var fields []*Field
	used, given := defaultSep, false
	for _, m := range parts {
		fields = append(fields, m.field)
		sep, ok := textOf(m.dir, "sep")
		switch {
		case !ok:
		case given && sep != used:
			d.report(sepConflict, argumentPos(m.dir, "sep"), m.field, strconv.Quote(sep), strconv.Quote(used))
		default:
			used, given = sep, true
			d.checkSep(used, m, parts)
		}
	}
	return newHalf(used, fields...)
}

// separators may stand between the parts of a key: punctuation of one byte. % is missing, it begins an escape.
const separators = "!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"

func (d *keyReader) checkSep(sep string, m marked, parts []marked) {
	if len(sep) != 1 || !strings.Contains(separators, sep) {
		d.report(sepForm, argumentPos(m.dir, "sep"), m.field, strconv.Quote(sep))
		return
	}
	if m.dir.Name != "compositeSubId" {
		return
	}
	for _, p := range parts {
		if strings.Contains(punctuationOf[p.field.Scalar], sep) {
			d.report(sepEscaped, argumentPos(m.dir, "sep"), m.field, strconv.Quote(sep), p.field.Name, fmt.Sprintf("%%%02X", sep[0]))
		}
	}
}

// punctuationOf is the punctuation in the text of dates, which operands spell out. (Nobody spells numbers out.)
var punctuationOf = map[string]string{"Date": "-", "DateTime": "-:."}

// checkSingleton wants it said that a model has one row: a key that was forgotten would make one of all rows.
func (d *keyReader) checkSingleton() {
	said := d.setting("singleton")
	switch meant := said != nil && flagOf(said, "singleton"); {
	case meant && d.Entity != nil:
		d.report(keyOfSingleton, argumentPos(said, "singleton"), nil, "the primary key of an entity")
	case d.Entity != nil:
	case meant && len(d.PK.Fields) > 0:
		d.report(keyOfSingleton, argumentPos(said, "singleton"), nil, d.PK.describe())
	case !meant && len(d.PK.Fields)+len(d.SK.Fields)+len(d.Indexes) == 0:
		d.report(noKey, d.Pos, nil, d.marks[0].Name)
	}
}
