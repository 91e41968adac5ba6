package write

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

// TestAPartWhoseUpdateMayBeTooLongIsRefusedBeforeARequest, though its first request would be short enough: rows of the
// same writer do not differ by what others have in them.
func TestAPartWhoseUpdateMayBeTooLongIsRefusedBeforeARequest(t *testing.T) {
	long := strings.Repeat("9", 39) // no number of DynamoDB holds it
	for _, digits := range []string{"1", long} {
		longest, refused := 0, false
		for n := 150; n < 250; n++ {
			w := measured(t, n, digits)
			c, err := changeOf(codecOf(t, w.Table), &w, "telemetry", time.Unix(1000, 0))
			if refused = err != nil; refused {
				if !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), "telemetry") {
					t.Errorf("%d numbers: %v, want ErrTooLarge that names the writer", n, err)
				}
				break
			}
			own, err := c.inState(state{own: true})
			if err != nil {
				t.Fatalf("%d numbers are refused only when the row has some apart: %v", n, err)
			}
			longest = max(longest, len(c.update), len(own.update))
		}
		if !refused || longest > item.MostExpression || longest < item.MostExpression-100 {
			t.Errorf("numbers like %s: refused %t, after updates of up to %d bytes", digits, refused, longest)
		}
	}
}

// measured is a part with so many numbers.
func measured(t *testing.T, n int, digits string) driver.Write {
	table := &driver.Table{Name: "Measured", PK: []int{0}, NoExpiry: true,
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}}}
	part := &driver.Part{WriterCount: 2}
	for i := range n {
		table.Fields = append(table.Fields, driver.Field{Name: fmt.Sprint("n", i), Scalar: "Decimal", Nullable: true})
		part.Fields = append(part.Fields, i+1)
	}
	row := dynamotest.RowOf(t, keys.Key{PK: "a"}, func(b *record.Builder) {
		b.String("a")
		for range n {
			b.String(digits)
		}
	}, n+1)
	row.Position = dynamotest.Position(1)
	return driver.Write{Table: table, Part: part, Row: row}
}
