package page

import (
	"context"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

// passed counts the bytes that are passed over.
type passed int

func (*passed) Take(int) error { return nil }

func (p *passed) Pass(bytes int) error {
	*p += passed(bytes)
	return nil
}

// TestWhatIsPassedOverAmongLargeRowsIsChargedOnce: these are given up, and read again a few at a time.
func TestWhatIsPassedOverAmongLargeRowsIsChargedOnce(t *testing.T) {
	var bytes, one passed
	if err := driver.Pass(driver.WithBudget(t.Context(), &one), 5, 0); err != nil {
		t.Fatal(err)
	}
	readings := 0
	_, judged, err := NewHiddenRows(10).hold(driver.WithBudget(t.Context(), &bytes), 100,
		func(ctx context.Context, rows int) (batch, error) {
			readings++
			if err := driver.Pass(ctx, 5, 0); err != nil {
				return batch{}, err
			}
			return batch{}, driver.Charge(driver.BudgetOf(ctx), unjudgedBytes)
		})
	if err != nil {
		t.Fatal(err)
	}
	judged()
	if readings != 2 || bytes != one {
		t.Errorf("%d bytes are charged in %d readings, want %d in 2", bytes, readings, one)
	}
}
