package explain

import (
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/querydb"
)

// filter adds what a page reads that is filtered, where it is, and returns the fields that are read of its rows.
func (e operation) filter(s *Step, q *catalog.Query, a *catalog.PageArgs, fields []int) ([]int, error) {
	if a.Filter == nil {
		return fields, nil
	}
	f, err := filter.Parse(e.Catalog.Types[q.Type], a.Filter)
	if err != nil {
		return nil, err
	}
	for _, field := range f.Fields() {
		s.Filter = append(s.Filter, field.Name)
		if fields != nil && !slices.Contains(fields, field.Ordinal) {
			fields = append(slices.Clone(fields), field.Ordinal)
		}
	}
	s.Keys = max(s.Keys, e.MaxExamined)
	s.Reads = max(s.Reads, (e.MaxExamined+querydb.MinExamined-1)/querydb.MinExamined)
	return fields, nil
}
