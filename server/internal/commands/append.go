package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/sources"
)

// Append sends the events of a file to a running server, in order.
type Append struct {
	File string `arg:"" help:"CloudEvents, one a line: .jsonl, .jsonl.gz, or - for standard input."`
	client.Server
	Batch    int `help:"Maximum number of events in a request." default:"500"`
	MaxEvent int `help:"Bytes of one event." default:"262144"`
	Attempts int `help:"How often to send a request before giving up." default:"8"`
}

// batchBytes is how much data a request has, give or take an event.
const batchBytes = 4 << 20

// appending is a run of the command.
type appending struct {
	*Append
	client     *client.Client
	meter      progress.Meter
	duplicates int
	appended   int
	pause      time.Duration // before the first repetition of a request; it doubles
}

// Run sends all events. Those that the server has already change nothing, so that it may be run again at any time.
func (c *Append) Run(ctx context.Context, p *Program) error {
	if c.Batch < 1 || c.Attempts < 1 || c.MaxEvent < 1 {
		return config.Wrong("batch, attempts, max-event", "give 1 at least")
	}
	if c.Batch > cloudevents.MaxBatch {
		return config.Wrong("batch", "%d is more than a server takes in one request; give %d at most", c.Batch,
			cloudevents.MaxBatch)
	}
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	src, err := filesource.Open(filesource.Options{Path: c.File, Stdin: p.Stdin, MaxSize: c.MaxEvent})
	if err != nil {
		return err
	}
	a := &appending{Append: c, client: to, pause: 200 * time.Millisecond}
	if c.File != "-" { // the end of standard input is known when it has come
		if a.meter.Total, err = src.Head(ctx, filesource.Partition); err != nil {
			return errors.Join(err, src.Close())
		}
	}
	a.meter.Start(p.Stderr, "appended")
	err = a.all(ctx, src)
	a.meter.Stop()
	if err == nil {
		fmt.Fprintf(p.Stdout, "%d events appended, %d were there already\n", a.appended, a.duplicates)
	}
	return errors.Join(err, src.Close())
}

// all sends the events of the source to its end.
func (a *appending) all(ctx context.Context, src eventlog.Source) error {
	for after := uint64(0); ; {
		events, err := src.Read(ctx, filesource.Partition, after, a.Batch)
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
			if err := a.send(ctx, events[:n]); err != nil {
				return err
			}
			after = events[n-1].Offset
			events = events[n:]
			a.meter.At(after)
		}
	}
}

// some returns how many of the events go into one request: as many as there are before one that is malformed, so that
// what precedes it is appended.
func some(events []eventlog.Event) int {
	size := 0
	for i := range events {
		if size += len(events[i].Data); i > 0 && (size > batchBytes || events[i].Malformed != nil) {
			return i
		}
	}
	return len(events)
}

// send sends a batch until the server has it.
func (a *appending) send(ctx context.Context, events []eventlog.Event) error {
	if err := events[0].Malformed; err != nil {
		return fmt.Errorf("%w; the events before that line are appended", err)
	}
	body := cloudevents.AppendBatch(nil, events)
	for pause, n := a.pause, 1; ; pause, n = min(2*pause, 10*time.Second), n+1 {
		var answer struct{ Appended []eventlog.AppendResult }
		err := a.client.Do(ctx, "POST", "/events", cloudevents.BatchType, body, &answer)
		if err == nil {
			a.count(answer.Appended)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !client.Temporary(err) || n == a.Attempts {
			return a.refused(events, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *appending) count(at []eventlog.AppendResult) {
	for _, one := range at {
		if one.Duplicate {
			a.duplicates++
		} else {
			a.appended++
		}
	}
}

// refused says which line the server did not take.
func (a *appending) refused(events []eventlog.Event, err error) error {
	var answer *client.Error
	if errors.As(err, &answer) && answer.Event != nil && *answer.Event >= 0 && *answer.Event < len(events) {
		e := &events[*answer.Event]
		return fmt.Errorf("append line %d of %s (id %q): %s: %s; the lines before %d are appended",
			e.Offset, a.File, e.ID, answer.Field, answer.Reason, events[0].Offset)
	}
	return fmt.Errorf("append lines %d to %d of %s to %s: %w; the lines before are appended",
		events[0].Offset, events[len(events)-1].Offset, a.File, a.client.Base, err)
}
