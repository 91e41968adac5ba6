package read

import (
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// OfStored finds where a stored id leads, from the id's JSON text. ok is false where there can be no row.
func (ks JoinKeys) OfStored(f *driver.Field, text []byte) (s JoinKey, ok bool, err error) {
	id, ok := record.KeyValue(f.Scalar, text)
	if !ok {
		return JoinKey{}, false, fmt.Errorf("%s is not a value of type %s", text, f.Scalar)
	}
	return ks.Of(id)
}
