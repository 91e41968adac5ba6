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

const mostNumbers = 450 // about as many as a table may have

// TestAPartOfOrdinaryNumbersIsWrittenHoweverManyTheyAre: none of them is in _own, and the update need not be so short
// that it could name them there too.
func TestAPartOfOrdinaryNumbersIsWrittenHoweverManyTheyAre(t *testing.T) {
	w := measured(t, mostNumbers, "1")
	c, err := changeOf(codecOf(t, w.Table), &w, "telemetry", time.Unix(1000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.inState(state{own: true}); !errors.Is(err, driver.ErrTooLarge) ||
		!strings.Contains(err.Error(), "telemetry") {
		t.Errorf("where the row has a value in _own: %v, want ErrTooLarge that names the writer", err)
	}
}

// TestAPartThatItsWriterCouldNotWriteAgainIsRefusedBeforeARequest: it puts a value into _own, and the next update of
// the row would be too long.
func TestAPartThatItsWriterCouldNotWriteAgainIsRefusedBeforeARequest(t *testing.T) {
	long := strings.Repeat("9", 39) // no number of DynamoDB holds it
	longest, refused := 0, false
	for n := 150; n <= mostNumbers && !refused; n++ {
		w := measured(t, n, long)
		c, err := changeOf(codecOf(t, w.Table), &w, "telemetry", time.Unix(1000, 0))
		if refused = err != nil; refused {
			if !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), "telemetry") {
				t.Errorf("%d numbers: %v, want ErrTooLarge that names the writer", n, err)
			}
			break
		}
		next, err := c.inState(state{own: true})
		if err != nil {
			t.Fatalf("%d numbers are written, and cannot be written again: %v", n, err)
		}
		longest = max(longest, len(next.update))
	}
	if !refused || longest > item.MostExpression || longest < item.MostExpression-100 {
		t.Errorf("refused %t, after updates of up to %d bytes", refused, longest)
	}
}

// measured is a part with so many numbers, all with the same digits.
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
