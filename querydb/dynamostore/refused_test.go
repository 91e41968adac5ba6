package dynamostore

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"github.com/foldql/foldql/querydb/record"
)

// selective refuses requests that say something.
type selective struct {
	next   aws.HTTPClient
	saying string
}

func (s selective) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(body), s.saying) {
		return answerSaying(http.StatusBadRequest, "ValidationException",
			"Item size to update has exceeded the maximum allowed size")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return s.next.Do(r)
}

// TestABatchIsPartialWhereAWriteAmidItIsRefused, and not where one is refused before or alone.
func TestABatchIsPartialWhereAWriteAmidItIsRefused(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Small)
		s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) {
			o.HTTPClient = selective{o.HTTPClient, `"bad"`}
		})
		for name, test := range map[string]struct {
			batch   driver.Batch
			partial bool
		}{
			"one of two": {driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1), put(t, "bad", 1, 1)}}, true},
			"the last of two": {driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1)},
				Last: []driver.Write{put(t, "bad", 1, 0)}}, true},
			"one alone": {driver.Batch{Writes: []driver.Write{put(t, "bad", 1, 1)},
				Last: []driver.Write{put(t, "a", 1, 0)}}, false},
			"two in one commit": {driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1), put(t, "bad", 1, 1)}, Atomic: true},
				false},
			"none but the notes": {driver.Batch{Last: []driver.Write{put(t, "a", 1, 0), put(t, "bad", 1, 0)}}, false},
		} {
			err := s.Apply(t.Context(), test.batch)
			if !errors.Is(err, driver.ErrTooLarge) || errors.Is(err, driver.ErrPartial) != test.partial {
				t.Errorf("%s: %v, want ErrTooLarge, partial: %t", name, err, test.partial)
			}
		}
	})
}

// TestAnItemHasRoomForWhatAllWritersOfItMayWrite, and for the positions of other partitions.
func TestAnItemHasRoomForWhatAllWritersOfItMayWrite(t *testing.T) {
	table := &driver.Table{
		Name: "Halves", PK: []int{0}, NoExpiry: true,
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "state", Scalar: "String", Nullable: true},
			{Name: "owner", Scalar: "String", Nullable: true}},
	}
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, table)
		for of, writer := range []string{1: "telemetry", 2: "ownership"} {
			if writer == "" {
				continue
			}
			written := func(size int) driver.Batch {
				row := dynamotest.RowOf(t, keys.Key{PK: "a"}, func(b *record.Builder) {
					b.String("a")
					for f := 1; f < 3; f++ {
						if f == of {
							b.String(strings.Repeat("x", size))
						} else {
							b.Null()
						}
					}
				}, 3)
				row.Position = dynamotest.Position(1)
				return driver.Batch{Writer: writer, Writes: []driver.Write{{Table: table, Row: row,
					Part: &driver.Part{Fields: []int{of}, WriterCount: 2}}}}
			}
			applyTo(t, s, written(item.MostRow/2-200))
			err := s.Apply(t.Context(), written(item.MostRow/2+1))
			if !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), writer) || !strings.Contains(err.Error(),
				`row "a"`) {
				t.Errorf("more than a share: %v, want ErrTooLarge that names row and writer", err)
			}
		}
	})
}

// TestADamagedItemDiffersFromAStoreThatIsNotThere: another program has given an attribute another type.
func TestADamagedItemDiffersFromAStoreThatIsNotThere(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Small)
		applyTo(t, s, driver.Batch{Writes: []driver.Write{put(t, "a", 1, 1)}})
		sh := shapeIn(t, s, dynamotest.Small)
		if _, err := s.client.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &sh.Layout.Table, Item: item.Item{
			sh.PK: item.Text("spoilt"), layout.AttrRev: &types.AttributeValueMemberBOOL{Value: true},
		}}); err != nil {
			t.Fatal(err)
		}
		for _, ks := range [][]keys.Key{{{PK: "spoilt"}}, {{PK: "a"}, {PK: "spoilt"}}} {
			if _, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Small, Keys: ks}); !errors.Is(err, driver.ErrDamaged) {
				t.Errorf("%v, want ErrDamaged", err)
			}
		}
	})
}

// TestATableOfAnotherKeyIsNoFaultOfRows: it may have been made anew under a server, and events wait until it is as the
// rows need it.
func TestATableOfAnotherKeyIsNoFaultOfRows(t *testing.T) {
	task := func(pk, sk string) *driver.Table {
		return &driver.Table{
			Name: "Task", Keys: driver.KeyNames{PK: pk, SK: sk}, Sorted: sk != "", PK: []int{0}, NoExpiry: true,
			Fields: []driver.Field{{Name: "id", Scalar: "ID"}},
		}
	}
	write := func(table *driver.Table, id string) driver.Write {
		k := keys.Key{PK: id}
		if table.Sorted {
			k.SK = "x"
		}
		w := driver.Write{Table: table, Row: dynamotest.RowOf(t, k, func(b *record.Builder) { b.String(id) }, 1)}
		w.Row.Position = dynamotest.Position(1)
		return w
	}
	shapes := []*driver.Table{task("", ""), task("", "at"), task("taskId", "")}
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		for _, is := range shapes {
			s := openWith(t, e, Config{}, is)
			for _, other := range shapes {
				for _, atomic := range []bool{false, true} {
					b := driver.Batch{Writes: []driver.Write{write(other, "a"), write(other, "b")}, Atomic: atomic}
					err := s.Apply(t.Context(), b)
					if is != other && (!errors.Is(err, driver.ErrTablesNotReady) || errors.Is(err, driver.ErrPartial)) {
						t.Errorf("the key is %v, not %v, atomic %t: %v, want ErrTablesNotReady", is.Keys, other.Keys, atomic, err)
					}
				}
			}
		}
	})
}
