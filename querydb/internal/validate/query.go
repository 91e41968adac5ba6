package validate

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Query refuses a query that cannot be answered, or that asks for fields beyond those that rows have.
func Query(q *driver.Query, fields []int, has int) error {
	sorted := q.Table.Sorted
	if q.Index != driver.Primary {
		sorted = q.Table.Indexes[q.Index].Sorted()
	}
	switch {
	case q.Limit < 1 || q.Limit > MaxPageRows:
		return fmt.Errorf("%w: the limit is %d, and must be 1 to %d", driver.ErrInvalid, q.Limit, MaxPageRows)
	case q.PK == "":
		return fmt.Errorf("%w: the partition key is empty", driver.ErrInvalid)
	case q.Range.Op > keys.RangeBetween:
		return fmt.Errorf("%w: there is no range operator %d", driver.ErrInvalid, q.Range.Op)
	case q.Range.Op != keys.RangeAll && !sorted:
		return fmt.Errorf("%w: a range of sort keys is asked for, and there is no sort key", driver.ErrInvalid)
	}
	for _, f := range fields {
		if f < 0 || f >= has {
			return fmt.Errorf("%w: there is no field %d", driver.ErrInvalid, f)
		}
	}
	if err := KeySize(q.PK, q.Range.Lo); err != nil {
		return err
	}
	return KeySize(q.PK, q.Range.Hi)
}
