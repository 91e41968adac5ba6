// Package upload sends the events of a file to a server, in order and in batches.
package upload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/sources"
)

// Options are those of commands that send events.
type Options struct {
	Batch    int `help:"Maximum number of events in a request." default:"500"`
	Attempts int `help:"How often to send a request before giving up." default:"8"`
}

// Upload is the sending of a file.
type Upload struct {
	Options
	File     string // .jsonl, .jsonl.gz, or "-" for Stdin
	MaxEvent int    // bytes of one event
	Stdin    io.Reader
	Stderr   io.Writer // shows the progress
	To       *client.Client
	Verb     string // what is done: "append"
	Done     string // what has been done to events: "appended"

	New        int // events that the server did not have
	Duplicates int // events that it had already

	undeclared ingest.Undeclared // what the server has told of
	meter      progress.Meter
}

// batchBytes is how much data a request has, give or take an event.
const batchBytes = 4 << 20

// firstPause is the time before the first repetition of a request; it doubles.
const firstPause = 200 * time.Millisecond

// Run sends all events.
func (u *Upload) Run(ctx context.Context) error {
	if u.Batch < 1 || u.Attempts < 1 || u.MaxEvent < 1 {
		return config.Wrong("batch, attempts, max-event", "give 1 at least")
	}
	if u.Batch > cloudevents.MaxBatch {
		return config.Wrong("batch", "%d is more than a server takes in one request; give %d at most", u.Batch,
			cloudevents.MaxBatch)
	}
	src, err := filesource.Open(filesource.Options{Path: u.File, Stdin: u.Stdin, MaxSize: u.MaxEvent})
	if err != nil {
		return err
	}
	if u.File != "-" { // the end of standard input is known when it has come
		if u.meter.Total, err = src.Head(ctx, filesource.Partition); err != nil {
			return errors.Join(err, src.Close())
		}
	}
	u.meter.Start(u.Stderr, u.Done)
	err = u.all(ctx, src)
	u.meter.Stop()
	u.warnOfUndeclared() // also where a later line is wrong: the log has those before it
	return errors.Join(err, src.Close())
}

// all sends the events of the source to its end.
func (u *Upload) all(ctx context.Context, src eventlog.Source) error {
	for after := uint64(0); ; {
		events, err := src.Read(ctx, filesource.Partition, after, u.Batch)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			err := src.Wait(ctx, eventlog.Offsets{filesource.Partition: after})
			if sources.Ended(err) {
				return nil
			}
			if err != nil {
				return err
			}
			continue
		}
		for len(events) > 0 {
			n := some(events)
			if err := u.send(ctx, events[:n]); err != nil {
				return err
			}
			after = events[n-1].Offset
			events = events[n:]
			u.meter.At(after)
		}
	}
}

// some returns how many of the events go into one request: as many as there are before one that is malformed, so that
// what precedes it is appended.
func some(events []eventlog.Event) int {
	size := 0
	for i := range events {
		if size += weight(&events[i]); i > 0 && (size > batchBytes || events[i].Malformed != nil) {
			return i
		}
	}
	return len(events)
}

// weight is about how many bytes an event takes on its way.
func weight(e *eventlog.Event) int {
	n := len(e.Data) + len(e.ID) + len(e.Source) + len(e.Type) + len(e.Subject) + len(e.PartitionKey) + len(e.DataSchema)
	for name, value := range e.Extensions {
		n += len(name) + len(value)
	}
	return n
}

// send sends a batch until the server has it.
func (u *Upload) send(ctx context.Context, events []eventlog.Event) error {
	if err := events[0].Malformed; err != nil {
		return u.malformed(events[0].Offset, err)
	}
	body := cloudevents.AppendBatch(nil, events)
	known := true // whether the server has taken them
	for pause, n := firstPause, 1; ; pause, n = min(2*pause, 10*time.Second), n+1 {
		var answer struct {
			Appended   []eventlog.AppendResult
			Undeclared ingest.Undeclared
		}
		err := u.To.Do(ctx, "POST", "/events", cloudevents.BatchType, body, client.Answer{Into: &answer, With: "appended"})
		if err == nil {
			for _, field := range answer.Undeclared {
				u.undeclared.Add(field)
			}
			return u.count(answer.Appended, len(events))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		known = known && !client.MayBeDone(err)
		if !client.Temporary(err) || n == u.Attempts {
			return u.refused(events, known, err)
		}
		if n == 1 {
			fmt.Fprintf(u.Stderr, "\n%v; trying again\n", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// malformed says what to do about a line that is no event.
func (u *Upload) malformed(line uint64, err error) error {
	what := "correct the line"
	if errors.Is(err, cloudevents.ErrTooLarge) {
		what = "give a larger --max-event, and the server too"
	}
	return fmt.Errorf("%s %w; %s; %s, and repeat the command", u.Verb, err, u.before(line), what)
}

// count takes the results of a batch, one for each of its events: an answer with others is of something else than a
// server.
func (u *Upload) count(at []eventlog.AppendResult, events int) error {
	if len(at) != events {
		return fmt.Errorf("%s answered for %d of %d events; is a foldql server there? Repeat the command with --url of one",
			u.To, len(at), events)
	}
	for _, one := range at {
		if one.Duplicate {
			u.Duplicates++
		} else {
			u.New++
		}
	}
	return nil
}

// warnOfUndeclared says which fields the log has that no projector sees.
func (u *Upload) warnOfUndeclared() {
	if len(u.undeclared) == 0 {
		return
	}
	named := make([]string, len(u.undeclared))
	for i, f := range u.undeclared {
		named[i] = fmt.Sprintf("%q of %s (in %s)", f.Field, f.Type, plural.Count(f.Events, "event"))
	}
	some := ""
	if len(named) == eventlog.MaxUndeclared {
		some = ", and perhaps others"
	}
	fmt.Fprintf(u.Stderr, "warning: events have fields that no type declares; they are in the log, and projectors do not "+
		"see them: %s%s. Correct their names where events are written, or declare them\n", strings.Join(named, ", "), some)
}

// refused says which line the server did not take, or may not have taken where that is not known.
func (u *Upload) refused(events []eventlog.Event, known bool, err error) error {
	var answer *client.Error
	if errors.As(err, &answer) && answer.Event != nil && *answer.Event >= 0 && *answer.Event < len(events) {
		e := &events[*answer.Event]
		return fmt.Errorf("%s line %d of %s (id %q): %s: %s; %s",
			u.Verb, e.Offset, u.File, e.ID, answer.Field, answer.Reason, u.before(events[0].Offset))
	}
	first, last := events[0].Offset, events[len(events)-1].Offset
	lines, what := fmt.Sprintf("lines %d to %d", first, last), u.before(first)
	are := "are"
	if first == last {
		lines, are = fmt.Sprintf("line %d", first), "is"
	}
	switch {
	case known:
	case first == 1:
		what = fmt.Sprintf("whether %s %s %s is not known", lines, are, u.Done)
	default:
		what += fmt.Sprintf(", and whether %s %s, is not known", lines, are)
	}
	if client.Temporary(err) {
		what += ". Repeat the command when that is over: events that are there already change nothing"
	}
	return fmt.Errorf("%s %s of %s to %s: %w; %s", u.Verb, lines, u.File, u.To, err, what)
}

// before says what has become of the lines before one that was not taken.
func (u *Upload) before(line uint64) string {
	if line == 1 {
		return "nothing is " + u.Done
	}
	return fmt.Sprintf("the lines before %d are %s", line, u.Done)
}
