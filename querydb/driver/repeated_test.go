package driver_test

import (
	"errors"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

// counted is a budget of so many bytes to be passed over, which counts what it is charged for.
type counted struct{ taken, passed, most int }

func (c *counted) Take(bytes int) error {
	c.taken += bytes
	return nil
}

func (c *counted) Pass(bytes int) error {
	if c.passed += bytes; c.passed > c.most {
		return errors.New("too many rows are passed over")
	}
	return nil
}

// TestRepeatedReadingsAreChargedForTheLargestOfThem, in rows and in what is passed over.
func TestRepeatedReadingsAreChargedForTheLargestOfThem(t *testing.T) {
	b := &counted{most: 1 << 20}
	ctx, again := driver.ChargedOnce(driver.WithBudget(t.Context(), b))
	var after []counted
	for _, rows := range []int{3, 2, 5} {
		again()
		for range rows {
			if err := errors.Join(driver.Charge(driver.BudgetOf(ctx), 0), driver.Pass(ctx, 1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		after = append(after, *b)
	}
	one := counted{after[0].taken / 3, after[0].passed / 3, 0}
	if one.taken == 0 || one.passed == 0 || after[1] != after[0] ||
		after[2].taken != 5*one.taken || after[2].passed != 5*one.passed {
		t.Errorf("readings of 3, 2 and 5 rows are charged %+v", after)
	}
}

// TestWhatAReadingCouldNotPassOverNoLaterOneCan: it is not taken for charged.
func TestWhatAReadingCouldNotPassOverNoLaterOneCan(t *testing.T) {
	ctx, again := driver.ChargedOnce(driver.WithBudget(t.Context(), &counted{most: 1}))
	for range 2 {
		again()
		if err := driver.Pass(ctx, 1, 0); !errors.Is(err, driver.ErrOverBudget) {
			t.Errorf("more is passed over than may be: %v", err)
		}
	}
}
