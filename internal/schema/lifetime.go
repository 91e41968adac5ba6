package schema

import "slices"

// timeReader reads the fields that hold times of the row.
type timeReader struct{ *ModelDraft }

// readTimes reads @ttl, @createdAt and @updatedAt.
func (d *timeReader) readTimes() {
	d.TTL = d.readTime("ttl")
	d.CreatedAt = d.readTime("createdAt")
	d.UpdatedAt = d.readTime("updatedAt")
	d.checkTimeClash(d.TTL, "ttl", d.CreatedAt, "createdAt")
	d.checkTimeClash(d.TTL, "ttl", d.UpdatedAt, "updatedAt")
	d.checkTimeClash(d.CreatedAt, "createdAt", d.UpdatedAt, "updatedAt")
}

func (d *timeReader) readTime(directive string) (field *Field) {
	for _, m := range d.marked(directive) {
		f, pos := m.field, at(m.dir.Position)
		if field != nil {
			d.report(timeTwice, pos, f, directive, field.Name)
			continue
		}
		field = f
		if f.List || f.Scalar != "" && f.Scalar != "DateTime" {
			d.report(timeType, pos, f, directive)
		}
		if slices.Contains(d.PK.Fields, f) || slices.Contains(d.SK.Fields, f) {
			d.report(timeKey, pos, f, directive)
		}
	}
	return field
}

func (d *timeReader) checkTimeClash(a *Field, nameA string, b *Field, nameB string) {
	if a != nil && a == b {
		d.report(timeClash, a.Pos, a, nameA, nameB)
	}
}
