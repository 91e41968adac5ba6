package disk

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
)

// Format is that of the files which the engine writes, which among others tells damage from a crash in those of recent
// writes. A store that is opened has it from then on, and no program with an engine that does not know it can open that
// store. So it is named here, and a newer engine brings none by itself: to go on to the next is a decision, of which
// the changelog tells. Programs with the same engine do open it: what keeps out those that could not read what is
// stored is a format that each store has of its own.
const Format = pebble.FormatValueSeparation

// Listener returns what the engine is to tell of: a damaged file stops writing, and does not end the process.
func (d *Disk) Listener() *pebble.EventListener {
	return &pebble.EventListener{DataCorruption: func(i pebble.DataCorruptionInfo) {
		d.log.Error("a file of the data directory is damaged", "file", i.Path, "error", i.Details)
		d.health.fail(fmt.Errorf("%w: %s", pebble.ErrCorruption, i.Path))
	}}
}

// Logger returns the engine's logger. Its chatter about what it does goes to the debug level.
func (d *Disk) Logger() pebble.Logger { return logger{d.log} }

type logger struct{ log *slog.Logger }

func (l logger) Infof(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug("pebble: " + fmt.Sprintf(format, args...))
	}
}

func (l logger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// fatal is what the engine finds wrong with itself, or with the disk while it opens a store.
type fatal struct {
	text  string
	cause error
}

func (f fatal) Error() string { return f.text }

func (f fatal) Unwrap() error { return f.cause }

// Fatalf ends the process, unless the store is only being opened: the engine calls it where going on could do damage.
func (l logger) Fatalf(format string, args ...any) {
	text := "pebble: " + fmt.Sprintf(format, args...)
	l.log.Error(text)
	f := fatal{text: text}
	for _, a := range args {
		if err, ok := a.(error); ok {
			f.cause = err
		}
	}
	panic(f)
}

// survive runs what opens a store, and returns as an error what the engine would end the process for.
func survive(open func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fatal:
			err = r
		default:
			panic(r)
		}
	}()
	return open()
}
