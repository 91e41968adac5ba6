package plain

import (
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
)

// terminal is what is known of a terminal: who keeps it, what it has read last by its own time, and all that it has
// read, with what was once.
type terminal struct {
	given, read bool // whether anything is known of who keeps it, and of what it reads
	keeper      *string
	reading     int
	at          time.Time
	history     map[string]*reading // by what tells one from another
}

// reading is one that is kept, or was once.
type reading struct {
	row  model.TerminalEvent
	gone bool
}

// terminalFold folds events of terminals.
type terminalFold struct{ *state }

// takeTerminal folds an event of a terminal.
func (s terminalFold) takeTerminal(e *eventlog.Event) error {
	switch e.Type {
	case "TerminalGiven":
		return decoded(event.DecodeTerminalGiven, e, func(v event.TerminalGiven) error {
			t := s.terminal(v.Terminal)
			t.given, t.keeper = true, v.Keeper
			return s.noteTerminal(v.Terminal, t)
		})
	case "TerminalRead":
		return decoded(event.DecodeTerminalRead, e, func(v event.TerminalRead) error { return s.read(v, e) })
	case "TerminalLeft":
		return decoded(event.DecodeTerminalLeft, e, func(v event.TerminalLeft) error {
			t := s.terminal(v.Terminal)
			*t = terminal{history: t.history}
			return s.noteTerminal(v.Terminal, t)
		})
	}
	return decoded(event.DecodeTerminalScrapped, e, func(v event.TerminalScrapped) error {
		t := s.terminal(v.Terminal)
		*t = terminal{history: t.history}
		err := s.noteTerminal(v.Terminal, t)
		for id, r := range t.history {
			if !r.gone {
				r.gone = true
				err = errors.Join(err, note[model.TerminalEvent](s.state, model.TerminalEventCodec, id, nil))
			}
		}
		return err
	})
}

func (s terminalFold) terminal(id string) *terminal {
	if s.terminals[id] == nil {
		s.terminals[id] = &terminal{history: map[string]*reading{}}
	}
	return s.terminals[id]
}

// read keeps a reading at each of its times, and has the newest of all be that of the terminal: the first of those of
// one time. One reading cannot be kept at one time twice.
func (s terminalFold) read(v event.TerminalRead, e *eventlog.Event) error {
	times := []time.Time{v.At}
	if v.Again != nil {
		times = append(times, *v.Again)
		if v.At.Equal(*v.Again) {
			return nil
		}
	}
	t := s.terminal(v.Terminal)
	var err error
	for _, at := range times {
		if !t.read || at.After(t.at) {
			t.read, t.reading, t.at = true, v.Reading, at
		}
		r := &reading{row: model.TerminalEvent{
			Terminal: v.Terminal, Reading: &v.Reading, At: at, EventPartition: e.Partition, EventOffset: int64(e.Offset),
		}}
		id := fmt.Sprintf("%s %s %s %d", v.Terminal, at, e.Partition, e.Offset)
		t.history[id] = r
		err = errors.Join(err, note(s.state, model.TerminalEventCodec, id, &r.row))
	}
	return errors.Join(err, s.noteTerminal(v.Terminal, t))
}

func (s terminalFold) noteTerminal(id string, t *terminal) error {
	return note(s.state, model.TerminalCodec, id, terminalRow(id, t, nil))
}

// terminalRow is the row of a terminal, nil where nothing is known of it.
func terminalRow(id string, t *terminal, keeper *model.OwnerCopy) *model.Terminal {
	if !t.given && !t.read {
		return nil
	}
	row := &model.Terminal{Terminal: id, KeeperID: t.keeper, Keeper: keeper}
	if t.read {
		row.Reading, row.At = &t.reading, &t.at
	}
	return row
}
