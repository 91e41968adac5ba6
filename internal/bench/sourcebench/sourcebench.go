// Package sourcebench measures how fast a source is read, without any folding, beside a consumer of the same client
// library that does nothing else.
package sourcebench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/internal/bench/measurement"
)

// pass reads all messages of a stream once, and returns how many there were.
type pass func(ctx context.Context, s *stream, n int) (int, error)

// Run reads n events of a stream in turns, so many rounds, and prints the medians and their ratio. The server of the
// stream runs in this process, over files in dir.
func Run(ctx context.Context, out io.Writer, dir string, rounds, n int) error {
	s, err := newStream(ctx, dir, n)
	if err != nil {
		return fmt.Errorf("make a stream of %d events: %w", n, err)
	}
	defer s.close()
	peers := []pass{bare, decoding, source}
	all := make([][]run, len(peers))
	for range rounds {
		for i, read := range peers {
			one, err := measure(ctx, s, n, read)
			if err != nil {
				return fmt.Errorf("read the stream: %w", err)
			}
			all[i] = append(all[i], one)
		}
	}
	fmt.Fprintf(out, "\na stream of NATS JetStream, %d events of %d bytes, read from its beginning to its end (CPU time "+
		"is that of the server too):\n", n, s.size)
	of := make([]run, len(peers))
	for i, name := range []string{"a bare consumer", "one that decodes events", "Source.Read"} {
		of[i] = median(all[i])
		fmt.Fprintf(out, "  %s: %.0f events/s, %.1f µs of CPU per event\n", name, float64(n)/of[i].took.Seconds(),
			float64(of[i].cpu.Nanoseconds())/1000/float64(n))
	}
	fmt.Fprintf(out, "    Source.Read to a bare consumer: %.2f of the events/s, %.2f of the events per CPU second\n",
		of[0].took.Seconds()/of[2].took.Seconds(), of[0].cpu.Seconds()/of[2].cpu.Seconds())
	return nil
}

// run is what one pass took.
type run struct{ took, cpu time.Duration }

func measure(ctx context.Context, s *stream, n int, read pass) (r run, err error) {
	before, err := measurement.OwnCPU()
	if err != nil {
		return r, err
	}
	began := time.Now()
	got, err := read(ctx, s, n)
	r.took = time.Since(began)
	if err == nil && got != n {
		err = fmt.Errorf("%d events of %d", got, n)
	}
	if err != nil {
		return r, err
	}
	after, err := measurement.OwnCPU()
	r.cpu = after - before
	return r, err
}

// median is the run of middle length.
func median(all []run) run {
	all = slices.SortedFunc(slices.Values(all), func(a, b run) int { return cmp.Compare(a.took, b.took) })
	return all[len(all)/2]
}

// source reads as a projection does.
func source(ctx context.Context, s *stream, n int) (int, error) {
	src, err := natssource.Open(natssource.Options{URL: s.url})
	if err != nil {
		return 0, err
	}
	defer src.Close()
	var at uint64
	got := 0
	for got < n {
		events, err := src.Read(ctx, streamName, at, window)
		switch {
		case err != nil:
			return got, err
		case len(events) == 0:
			if err := src.Wait(ctx, eventlog.Offsets{streamName: at}); err != nil {
				return got, err
			}
			continue
		case events[0].Malformed != nil:
			return got, events[0].Malformed
		}
		got, at = got+len(events), events[len(events)-1].Offset
	}
	return got, nil
}

// window is how many events a projection reads at once.
const window = 4096
