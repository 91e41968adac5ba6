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
	s.examined = e.MaxExamined
	s.Keys = max(s.Keys, s.examined)
	s.Reads = max(s.Reads, s.batches())
	return fields, nil
}

// batches is in how many reads all rows are examined that may be.
func (s *Step) batches() int { return (s.examined + querydb.MinExamined - 1) / querydb.MinExamined }

// besidesFilter is what is read besides of a page that is filtered: the rows that an index does not hold whole.
func (s *Step) besidesFilter() (reads, keys int) {
	switch {
	case s.Items > 0:
		return s.examined, s.examined * s.Items
	case s.completions > 0:
		return s.batches(), s.examined
	}
	return 0, 0
}
