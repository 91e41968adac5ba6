package graph

import (
	"github.com/foldql/foldql/querydb/record"
)

// rows are the rows that a list of keys leads to, aligned with it: a nil record is no row. errs is nil where nothing
// failed, else it is aligned too.
type rows struct {
	recs []record.Record
	errs []error
}

func newRows(n int) rows { return rows{recs: make([]record.Record, n)} }

func (r *rows) fail(i int, err error) {
	if r.errs == nil {
		r.errs = make([]error, len(r.recs))
	}
	r.errs[i] = err
}

// failAll fails every row, if there is an error.
func (r *rows) failAll(err error) {
	for i := 0; err != nil && i < len(r.recs); i++ {
		r.fail(i, err)
	}
}

func (r *rows) err(i int) error {
	if r.errs == nil {
		return nil
	}
	return r.errs[i]
}
