package hostile

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/shop/sample"
)

// ending is a log that can be told that nothing will follow.
type ending struct {
	*embeddedlog.Log
	ended context.Context
	End   context.CancelFunc
}

// sampleLog is a log on disk, as the server has it, that holds the sample.
func sampleLog(t *testing.T) *ending {
	t.Helper()
	log, err := embeddedlog.Open(embeddedlog.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := log.Append(t.Context(), slices.Collect(sample.Events(sample.Small))); err != nil {
		t.Fatal(err)
	}
	l := &ending{Log: log}
	l.ended, l.End = context.WithCancel(context.Background())
	return l
}

// Wait implements eventlog.Source.
func (l *ending) Wait(ctx context.Context, after eventlog.Offsets) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ended, cancel)()
	err := l.Log.Wait(waiting, after)
	if err == nil || ctx.Err() != nil || l.ended.Err() == nil {
		return err
	}
	head, err := l.Head(ctx, embeddedlog.Partition)
	if err == nil && after[embeddedlog.Partition] >= head {
		err = io.EOF
	}
	return err
}
