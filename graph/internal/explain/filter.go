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
	pages, atOnce := s.Reads, 1
	if s.How == Pages {
		atOnce = e.Parallelism
	}
	// Each page reads the row that follows it, and may look at one where no more may be examined. What a page reads when
	// others look at the last ones is in vain.
	s.examined = e.MaxExamined + 2*pages + (atOnce-1)*querydb.MaxFilterBatch
	// The first read of a page is small, and so may the last be, or two where no more may be examined.
	s.Reads = 2*pages + (s.examined+querydb.MinFilterBatch-1)/querydb.MinFilterBatch + atOnce
	s.Keys = max(s.Keys, s.examined+s.Reads) // each read sees whether a row follows
	return fields, nil
}

// besidesFilter is what is read besides of a page that is filtered: the rows that an index does not hold whole.
func (s *Step) besidesFilter() (reads, keys int) {
	switch {
	case s.Items > 0:
		return s.examined, s.examined * s.Items
	case s.completions > 0:
		return s.Reads, s.examined
	}
	return 0, 0
}
