// Package sourcebench measures how fast a source is read, without any folding, beside a consumer of the same client
// library that does nothing else.
package sourcebench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/natssource"
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
	took := make([][]time.Duration, len(peers))
	for range rounds {
		for i, read := range peers {
			began := time.Now()
			got, err := read(ctx, s, n)
			if err == nil && got != n {
				err = fmt.Errorf("%d events of %d", got, n)
			}
			if err != nil {
				return fmt.Errorf("read the stream: %w", err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	rate := func(i int) float64 {
		slices.Sort(took[i])
		return float64(n) / took[i][len(took[i])/2].Seconds()
	}
	fmt.Fprintf(out, "\na stream of NATS JetStream, %d events of %d bytes, read from its beginning to its end:\n", n,
		s.size)
	fmt.Fprintf(out, "  a bare consumer: %.0f events/s; one that decodes CloudEvents: %.0f\n", rate(0), rate(1))
	fmt.Fprintf(out, "  Source.Read: %.0f events/s\n", rate(2))
	fmt.Fprintf(out, "    Source.Read to the bare consumer: %.2f; to the one that decodes: %.2f\n", rate(2)/rate(0),
		rate(2)/rate(1))
	return nil
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
