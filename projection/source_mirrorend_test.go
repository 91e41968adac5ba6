package projection_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/mirror"
)

// leavingLog is a log that gives out its first events, is away from when it has left, and is there again, with all,
// once it has returned.
type leavingLog struct {
	*memlog.Log
	gives          uint64
	left, returned chan struct{}
}

func (l *leavingLog) back() bool { return isClosed(l.returned) }

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (l *leavingLog) away() error {
	if isClosed(l.left) && !l.back() {
		return errLogAway
	}
	return nil
}

func (l *leavingLog) Partitions(ctx context.Context) ([]string, error) {
	if err := l.away(); err != nil {
		return nil, err
	}
	return l.Log.Partitions(ctx)
}

func (l *leavingLog) Head(ctx context.Context, partition string) (uint64, error) {
	if err := l.away(); err != nil {
		return 0, err
	}
	return l.Log.Head(ctx, partition)
}

func (l *leavingLog) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	switch {
	case l.back():
		return l.Log.Read(ctx, partition, after, most)
	case after < l.gives && l.away() == nil:
		return l.Log.Read(ctx, partition, after, min(most, int(l.gives-after)))
	}
	select { // the answer takes long, and does not come any more
	case <-l.left:
		return nil, errLogAway
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (l *leavingLog) Wait(ctx context.Context, after eventlog.Offsets) error {
	if err := l.away(); err != nil {
		return err
	}
	return l.Log.Wait(ctx, after)
}

// awaiting is a source that says each time that a reader who waits is told why it cannot.
type awaiting struct {
	eventlog.Source
	told chan error
}

func (a awaiting) Unwrap() eventlog.Source { return a.Source }

func (a awaiting) Wait(ctx context.Context, after eventlog.Offsets) error {
	err := a.Source.Wait(ctx, after)
	if err != nil && ctx.Err() == nil {
		select {
		case a.told <- err:
		case <-ctx.Done():
		}
	}
	return err
}

// givenOut is what another server reads of the source.
func givenOut(t *testing.T, src eventlog.Source) eventlog.Source {
	t.Helper()
	h := &httpsource.Handler{Source: src, Logger: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+httpsource.EventsPath, h.Events)
	mux.HandleFunc("GET "+httpsource.PartitionsPath, h.Partitions)
	mux.HandleFunc("GET "+httpsource.WaitPath, h.Wait)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	other, err := httpsource.Open(httpsource.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return other
}

// TestRowsOfAMirrorAreCompleteWhenItHasTheWholeLog, and not when its log has left amid the first copy: at the server
// that has the Mirror, and at one that follows it.
func TestRowsOfAMirrorAreCompleteWhenItHasTheWholeLog(t *testing.T) {
	const all, first = 9, 3
	for name, read := range map[string]func(*testing.T, eventlog.Source) eventlog.Source{
		"itself":         func(_ *testing.T, src eventlog.Source) eventlog.Source { return src },
		"another server": givenOut,
	} {
		t.Run(name, func(t *testing.T) {
			log := &leavingLog{logOf(t, countsOf(all)...), first, make(chan struct{}), make(chan struct{})}
			m, err := mirror.Open(mirror.Options{Dir: "mirror", Source: log, FS: vfs.NewMem()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			store := newFaultyStore()
			db, src, cfg := open(t, store), awaiting{read(t, m), make(chan error)}, quick()
			cfg.MinBackoff, cfg.MaxBackoff = time.Millisecond, time.Millisecond
			store.after = func(int) error { // when the rows are begun, up to the end of the log
				close(log.left)
				store.after = nil
				return nil
			}
			_, run := inBackground(t, newRunner(t, "script", src, db, cfg))
			look := time.NewTicker(time.Millisecond)
			defer look.Stop()
			for told, late := 0, time.After(30*time.Second); ; {
				select {
				case <-src.told:
					if told++; told == 3 {
						wantIncomplete(t, db, "at the end of the copy")
						close(log.returned)
					}
				case err := <-run.done:
					if err != nil || told < 3 {
						t.Fatalf("the run has ended: %v", err)
					}
				case <-look.C:
					if _, err := servedTotal(db); err == nil && told >= 3 {
						wantTotal(t, db, all, "at the end of the log")
						return
					}
				case <-late:
					t.Fatal("the rows are not complete within 30 s")
				}
			}
		})
	}
}
