package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Keepers says who keeps a terminal.
type Keepers struct{}

func (Keepers) TerminalGiven(e event.TerminalGiven, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Terminal.Set(model.Terminal{Terminal: e.Terminal, KeeperID: e.Keeper})}
}

func (Keepers) TerminalLeft(e event.TerminalLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Terminal.Delete(e.Terminal)}
}

func (Keepers) TerminalScrapped(e event.TerminalScrapped, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Terminal.DeletePartition(e.Terminal)}
}

// Readings appends what a terminal reads, in whatever order that comes.
type Readings struct{}

func (Readings) TerminalRead(e event.TerminalRead, _ projection.Meta) []projection.Op {
	all := []projection.Op{ops.Terminal.Append(e.Terminal, model.TerminalAppend{Reading: &e.Reading, At: e.At})}
	if e.Again != nil {
		all = append(all, ops.Terminal.Append(e.Terminal, model.TerminalAppend{Reading: &e.Reading, At: *e.Again}))
	}
	return all
}

func (Readings) TerminalLeft(e event.TerminalLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Terminal.Delete(e.Terminal)}
}

func (Readings) TerminalScrapped(e event.TerminalScrapped, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Terminal.DeletePartition(e.Terminal)}
}

// Meter keeps what each channel of a terminal reads, in order of the minutes, and how often the terminal was left.
type Meter struct{}

func (Meter) TerminalRead(e event.TerminalRead, _ projection.Meta) []projection.Op {
	key := model.MeterKey{Terminal: e.Terminal, Channel: e.Channel}
	return []projection.Op{ops.Meter.Append(key, model.MeterAppend{Reading: &e.Reading, Minute: e.At.Unix() / 60})}
}

// TerminalLeft takes one channel away, though not its history, and changes another.
func (Meter) TerminalLeft(e event.TerminalLeft, _ projection.Meta) []projection.Op {
	key := model.MeterKey{Terminal: e.Terminal, Channel: 1}
	return []projection.Op{
		ops.Meter.Delete(model.MeterKey{Terminal: e.Terminal, Channel: 0}),
		ops.Meter.Upsert(key, model.Meter{}, func(m *model.Meter) { m.Left++ }),
	}
}

func (Meter) TerminalScrapped(e event.TerminalScrapped, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Meter.DeletePartition(e.Terminal)}
}
