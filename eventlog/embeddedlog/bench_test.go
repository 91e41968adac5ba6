package embeddedlog_test

import (
	"fmt"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// BenchmarkAppend appends durable batches of a thousand events, all new.
func BenchmarkAppend(b *testing.B) {
	l := open(b, embeddedlog.Options{Dir: b.TempDir()})
	defer l.Close()
	events := sourcetest.Events(1000)
	n := 0
	for b.Loop() {
		n++
		for i := range events {
			events[i].ID = fmt.Sprintf("%d-%d", n, i)
		}
		if _, err := l.Append(b.Context(), events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*len(events))/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendOne appends single events from many goroutines, which share syncs.
func BenchmarkAppendOne(b *testing.B) {
	l := open(b, embeddedlog.Options{Dir: b.TempDir()})
	defer l.Close()
	ids := make(chan string, 64)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for n := 0; ; n++ {
			select {
			case ids <- fmt.Sprint(n):
			case <-done:
				return
			}
		}
	}()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			e := sourcetest.Events(1)
			e[0].ID = <-ids
			if _, err := l.Append(b.Context(), e); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkRead reads a log of 60,000 events.
func BenchmarkRead(b *testing.B) {
	l := open(b, embeddedlog.Options{Dir: b.TempDir()})
	defer l.Close()
	if _, err := l.Append(b.Context(), sourcetest.Events(60_000)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for after := uint64(0); ; {
			events, err := l.Read(b.Context(), "0", after, 1000)
			if err != nil {
				b.Fatal(err)
			}
			if len(events) == 0 {
				break
			}
			after = events[len(events)-1].Offset
		}
	}
}

var _ eventlog.Log = (*embeddedlog.Log)(nil)
