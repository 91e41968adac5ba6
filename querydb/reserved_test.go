package querydb_test

import (
	"errors"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAKeyThatIsTheStoresOwnIsNoRow where there are unique indexes: none can be written under it, on any store.
func TestAKeyThatIsTheStoresOwnIsNoRow(t *testing.T) {
	for _, unique := range []bool{false, true} {
		m := orderModel()
		m.Indexes[0].Unique = unique
		db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{})
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{DB: db, t: t, model: m, codec: orderCodec(m)}
		row := f.encode(sample(1))
		row.Key = keys.Key{PK: driver.ReservedPrefix + "x", SK: row.Key.SK}
		err = db.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: m, Row: row}}})
		if errors.Is(err, querydb.ErrInvalid) != unique {
			t.Errorf("unique %t: %v", unique, err)
		}
		row.Key.PK = driver.MarkPK
		err = db.Apply(t.Context(), querydb.Batch{Writes: []querydb.Write{{Model: m, Row: row}}})
		if !errors.Is(err, querydb.ErrInvalid) {
			t.Errorf("the key of a mark: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
