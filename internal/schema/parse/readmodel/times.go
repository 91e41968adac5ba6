package readmodel

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// timeReader reads the fields that hold times of the row.
type timeReader struct{ *draft.Model }

// readTimes reads @ttl, @createdAt and @updatedAt.
func (d *timeReader) readTimes() {
	d.TTL = d.readTime("ttl")
	d.CreatedAt = d.readTime("createdAt")
	d.UpdatedAt = d.readTime("updatedAt")
	d.checkTimeClash(d.TTL, "ttl", d.CreatedAt, "createdAt")
	d.checkTimeClash(d.TTL, "ttl", d.UpdatedAt, "updatedAt")
	d.checkTimeClash(d.CreatedAt, "createdAt", d.UpdatedAt, "updatedAt")
}

func (d *timeReader) readTime(directive string) (field *schema.Field) {
	for _, m := range d.Marked(directive) {
		f, pos := m.Field, sdl.Position(m.Dir.Position)
		if field != nil {
			d.Report(rule.TimeTwice, pos, f, directive, field.Name)
			continue
		}
		field = f
		if f.List || f.Known() && f.Scalar != "DateTime" {
			d.Report(rule.TimeType, pos, f, directive)
		}
		if slices.Contains(d.PK.Fields, f) || slices.Contains(d.SK.Fields, f) {
			d.Report(rule.TimeKey, pos, f, directive)
		}
	}
	return field
}

func (d *timeReader) checkTimeClash(a *schema.Field, nameA string, b *schema.Field, nameB string) {
	if a != nil && a == b {
		d.Report(rule.TimeClash, a.Pos, a, nameA, nameB)
	}
}
