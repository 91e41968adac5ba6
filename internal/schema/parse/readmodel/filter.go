package readmodel

import (
	"slices"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// filterReader reads the fields by which list queries filter.
type filterReader struct{ *draft.Model }

// readFilters reads @filterable.
func (d *filterReader) readFilters() {
	for _, m := range d.Marked("filterable") {
		f, pos := m.Field, sdl.Position(m.Dir.Position)
		switch {
		case f.Object != nil:
			d.Report(rule.FilterType, pos, f, schema.TypeText(f))
		case slices.Contains(queryarg.FilterCombiners, f.Name):
			d.Report(rule.FilterName, pos, f, f.Name)
		default:
			f.Filterable = f.Known()
		}
	}
}

// checkOffered finds a field by which no query filters. All models have their indexes and histories by now.
func (d *filterReader) checkOffered() {
	filters := schema.FilterFields(d.ReadModel)
	offered := schema.HasFilter(d.ReadModel)
	if d.Series != nil && d.Series.History != nil {
		offered = offered || schema.HasFilter(d.Series.History)
	}
	if len(filters) == 0 || d.SeriesOf != nil || offered {
		return
	}
	d.Report(rule.FilterUnused, filters[0].Pos, filters[0], d.Name)
}
