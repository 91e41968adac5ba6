package ledger

import (
	"fmt"

	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Entry keeps the journal: each entry follows the one before it, and changes it a little.
type Entry struct{}

// current is the sort key of the row that holds.
const current = "~current"

func (Entry) Opened(e event.Opened, m projection.Meta) []projection.Op {
	return entry(e.Account, "opened", 0, m)
}

func (Entry) Deposited(e event.Deposited, m projection.Meta) []projection.Op {
	return entry(e.Account, "deposited", e.Amount, m)
}

func (Entry) Moved(e event.Moved, m projection.Meta) []projection.Op {
	return append(entry(e.From, "moved", -e.Amount, m), entry(e.To, "moved", e.Amount, m)...)
}

// Closed changes the row that holds, in place, and takes the first entry away.
func (Entry) Closed(e event.Closed, m projection.Meta) []projection.Op {
	return []projection.Op{
		ops.Entry.Update(model.EntryKey{Account: e.Account, Number: current}, func(row *model.Entry) { row.Kind = "closed" }),
		ops.Entry.Delete(model.EntryKey{Account: e.Account, Number: number(1)}),
	}
}

func (Entry) Purged(e event.Purged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Entry.DeletePartition(e.Account)}
}

func entry(account, kind string, amount int, m projection.Meta) []projection.Op {
	now := model.Entry{Account: account, Number: current, Kind: kind, Amount: amount, At: &m.Time}
	return []projection.Op{
		ops.Entry.Follow(account, func(latest model.Entry) model.Entry {
			next := now
			n := 0
			fmt.Sscanf(latest.Number, "e%d", &n) // no entry yet reads as 0
			next.Number, next.Balance = number(n+1), latest.Balance+int64(amount)
			return next
		}),
		ops.Entry.Upsert(model.EntryKey{Account: account, Number: current}, model.Entry{}, func(row *model.Entry) {
			row.Kind, row.Amount, row.At = kind, amount, &m.Time
			row.Balance += int64(amount)
		}),
	}
}

// number is padded, so that the order of the text is that of the numbers.
func number(n int) string { return fmt.Sprintf("e%05d", n) }
