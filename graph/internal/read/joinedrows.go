package read

import (
	"github.com/foldql/foldql/querydb/record"
)

// JoinedRows are the rows that a list of keys leads to, aligned with it: a nil record is no row. errs is nil where
// nothing failed, else it is aligned too.
type JoinedRows struct {
	Records []record.Record
	errs    []error
}

func NewJoinedRows(n int) JoinedRows { return JoinedRows{Records: make([]record.Record, n)} }

func (r *JoinedRows) Fail(i int, err error) {
	if r.errs == nil {
		r.errs = make([]error, len(r.Records))
	}
	r.errs[i] = err
}

// failAll fails every row, if there is an error.
func (r *JoinedRows) failAll(err error) {
	for i := 0; err != nil && i < len(r.Records); i++ {
		r.Fail(i, err)
	}
}

func (r *JoinedRows) Err(i int) error {
	if r.errs == nil {
		return nil
	}
	return r.errs[i]
}
