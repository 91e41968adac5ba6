package querydb_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

func TestEncodeComposesKeyIndexKeysAndExpiry(t *testing.T) {
	m := orderModel()
	c := orderCodec(m)
	at := "2024-01-15T12:00:00.000Z"
	full := order{ID: "o1", At: noon, Customer: text("ann"), Status: "open", Until: noon.Add(time.Hour)}
	none, empty := full, full
	none.Customer, none.Until = nil, time.Time{}
	empty.Customer, empty.Status = text(""), ""
	for name, test := range map[string]struct {
		row     order
		indexes []querydb.IndexKey
		expires time.Time
	}{
		"all there": {full, []querydb.IndexKey{
			{Key: keys.Key{PK: "ann"}, HasPK: true}, {Key: keys.Key{PK: "open", SK: at}, HasPK: true, HasSK: true},
		}, noon.Add(time.Hour)},
		"null is not indexed": {none, []querydb.IndexKey{
			{}, {Key: keys.Key{PK: "open", SK: at}, HasPK: true, HasSK: true},
		}, time.Time{}},
		"the empty string is not indexed, its partner stays": {empty, []querydb.IndexKey{
			{}, {Key: keys.Key{SK: at}, HasSK: true},
		}, noon.Add(time.Hour)},
	} {
		row, err := querydb.Encode(c, new(record.Builder), &test.row)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(test.indexes, row.Indexes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if row.Key != (keys.Key{PK: "o1", SK: at}) || !row.Expires.Equal(test.expires) {
			t.Errorf("%s: key %q, expires %v", name, row.Key, row.Expires)
		}
		if key, err := querydb.KeyOf(c, &test.row); err != nil || key != row.Key {
			t.Errorf("%s: KeyOf is %q, %v", name, key, err)
		}
	}
}

func TestEncodeNamesModelAndFieldOfWhatCannotBeStored(t *testing.T) {
	c := orderCodec(orderModel())
	for want, row := range map[string]order{
		"field id":    {At: noon},
		"field at":    {ID: "o1", At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"field total": {ID: "o1", At: noon, Total: math.NaN()},
	} {
		_, err := querydb.Encode(c, new(record.Builder), &row)
		if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "Order") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want ErrInvalid that names Order and %s", err, want)
		}
	}
}

// TestARowWithoutMeasureIsRefusedInBoundedMemory: no copy is made of what is too large anyway.
func TestARowWithoutMeasureIsRefusedInBoundedMemory(t *testing.T) {
	c := orderCodec(orderModel())
	row := sample(1)
	row.ID = strings.Repeat("x", 100<<20)
	var b record.Builder
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := querydb.EncodeWithKey(c, &b, &row, keys.Key{PK: "o1"})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, querydb.ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 20<<20 {
		t.Errorf("%d bytes were allocated to refuse it", took)
	}
}

func TestASingletonLivesUnderTheReservedKey(t *testing.T) {
	m := orderModel()
	m.PK, m.SK = querydb.Half{}, querydb.Half{}
	key, err := querydb.KeyOf(orderCodec(m), &order{})
	if err != nil || key != (keys.Key{PK: keys.SingletonPK}) {
		t.Errorf("%q, %v", key, err)
	}
}

func TestEncodeAllocatesForWhatItReturnsAlone(t *testing.T) {
	c := orderCodec(orderModel())
	var b record.Builder
	row := sample(1)
	n := testing.AllocsPerRun(100, func() {
		if _, err := querydb.Encode(c, &b, &row); err != nil {
			t.Fatal(err)
		}
	})
	const want = 4 // record, index keys, and the date-time in the sort key of the table and of an index
	if n > want {
		t.Errorf("%v allocations, want %d", n, want)
	}
}
