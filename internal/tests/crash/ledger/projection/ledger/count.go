package ledger

import (
	"runtime"

	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// Totals counts every event in one row, which tells at once where one was lost or came twice.
type Totals struct{}

func total(change func(*model.Totals)) []projection.Op {
	return []projection.Op{ops.Totals.Upsert(querydb.SingletonKey{}, model.Totals{}, change)}
}

func (Totals) Opened(event.Opened, projection.Meta) []projection.Op {
	return total(func(t *model.Totals) { t.Opened++ })
}

func (Totals) Deposited(e event.Deposited, _ projection.Meta) []projection.Op {
	return total(func(t *model.Totals) { t.Deposits++; t.Deposited += int64(e.Amount) })
}

func (Totals) Moved(event.Moved, projection.Meta) []projection.Op {
	return total(func(t *model.Totals) { t.Moves++ })
}

func (Totals) Closed(event.Closed, projection.Meta) []projection.Op {
	return total(func(t *model.Totals) { t.Closed++ })
}

// Purged takes the row away now and then, and counting begins again.
func (Totals) Purged(_ event.Purged, m projection.Meta) []projection.Op {
	if m.Offset%5 > 0 {
		return nil
	}
	return []projection.Op{ops.Totals.Delete(querydb.SingletonKey{})}
}

// Currency counts by currency; some of its events cannot be projected.
type Currency struct{}

// NoCurrency is a currency at which the projector panics.
const NoCurrency = "none"

// Gone is a currency at which the projector ends its goroutine.
const Gone = "gone"

// Endless is a currency at which the projector never returns.
const Endless = "endless"

func (Currency) Deposited(e event.Deposited, _ projection.Meta) []projection.Op {
	switch e.Currency {
	case NoCurrency:
		panic("a deposit of nothing")
	case Gone:
		runtime.Goexit()
	case Endless:
		select {}
	}
	return []projection.Op{ops.Currency.Upsert(e.Currency, model.Currency{}, func(c *model.Currency) {
		c.Deposits++
		c.Total += int64(e.Amount)
	})}
}
