package write

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

func TestARowThatDynamoDBWouldRefuseOrChangeIsInvalid(t *testing.T) {
	tests := map[string]func(row *driver.Row){
		"the partition key is empty": func(row *driver.Row) { row.Key.PK = "" },
		"the sort key is empty":      func(row *driver.Row) { row.Key.SK = "" },
		"partition key has 2049 bytes": func(row *driver.Row) {
			row.Key.PK = strings.Repeat("x", 2049)
		},
		"sort key has 1025 bytes": func(row *driver.Row) {
			row.Key.SK = strings.Repeat("x", 1025)
		},
		"the key is no UTF-8": func(row *driver.Row) { row.Key.PK = "a\xff" },
		"index customerId: invalid: the key is": func(row *driver.Row) {
			row.Indexes[0].PK = "a\xff"
		},
		"index byStatus: invalid: the sort key": func(row *driver.Row) {
			row.Indexes[1].SK = strings.Repeat("x", 1025)
		},
		"index customerId has the key half \"\"": func(row *driver.Row) { row.Indexes[0].PK = "" },
		"the partition \"a\\xff\"": func(row *driver.Row) {
			row.Position.Partition = "a\xff"
		},
		"1000000 events are retried": func(row *driver.Row) {
			row.Position = driver.Position{Offset: 1, Step: 1e6}
		},
		`field orderId: it is "o1", and the key that is made of it "o2"`: func(row *driver.Row) { row.Key.PK = "o2" },
		"0 index keys":                func(row *driver.Row) { row.Indexes = nil },
		"rows of this table never do": func(row *driver.Row) { row.Expires = time.Unix(1, 0) },
	}
	s := codecOf(t, dynamotest.Tracking())
	for want, change := range tests {
		row := dynamotest.Order(t)
		change(&row)
		_, err := changeOf(s, &driver.Write{Table: s.Table, Row: row}, "", time.Time{})
		if !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "row ") {
			t.Errorf("%v, want ErrInvalid that names the row and says %q", err, want)
		}
	}
}

func TestAFieldOfAnotherTypeIsInvalid(t *testing.T) {
	s := codecOf(t, dynamotest.Everything)
	for f, field := range dynamotest.Everything.Fields {
		row := dynamotest.RowOf(t, keys.Key{PK: "a"}, func(b *record.Builder) {
			for i := range dynamotest.Everything.Fields {
				switch {
				case i == 0 && f != 0:
					b.String("a")
				case i != f:
					b.Null()
				case field.Scalar == "Boolean" || field.List:
					b.Float(1.5)
				default:
					b.Boolean(true)
				}
			}
		}, len(dynamotest.Everything.Fields))
		row.Indexes = make([]driver.IndexKey, 2)
		_, err := changeOf(s, &driver.Write{Table: dynamotest.Everything, Row: row}, "", time.Time{})
		if !errors.Is(err, driver.ErrInvalid) || !strings.Contains(err.Error(), "field "+field.Name) {
			t.Errorf("field %s: %v", field.Name, err)
		}
	}
}
