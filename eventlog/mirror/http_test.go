package mirror

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/selfsigned"
)

// upstream is a log on a disk, and a server that gives it out by encrypted connections, which comes and goes.
type upstream struct {
	dir, cert, key string
	address        string // where it comes again
	log            *embeddedlog.Log
	server         *http.Server
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{dir: filepath.Join(t.TempDir(), "log"), address: "127.0.0.1:0"}
	u.cert, u.key = selfsigned.Certificate(t)
	u.start(t)
	t.Cleanup(func() { u.stop(t) })
	return u
}

func (u *upstream) start(t testing.TB) {
	t.Helper()
	var err error
	if u.log, err = embeddedlog.Open(embeddedlog.Options{Dir: u.dir}); err != nil {
		t.Fatal(err)
	}
	h := &httpsource.Handler{Source: u.log, Logger: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+httpsource.EventsPath, h.Events)
	mux.HandleFunc("GET "+httpsource.PartitionsPath, h.Partitions)
	mux.HandleFunc("GET "+httpsource.WaitPath, h.Wait)
	mux.HandleFunc("POST "+httpsource.WaitPath, h.Wait)
	at, err := net.Listen("tcp", u.address)
	if err != nil {
		t.Fatal(err)
	}
	u.address = at.Addr().String()
	u.server = &http.Server{Handler: mux, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go u.server.ServeTLS(at, u.cert, u.key)
}

// stop does nothing where it has stopped.
func (u *upstream) stop(t testing.TB) {
	t.Helper()
	u.server.Close()
	if err := u.log.Close(); err != nil {
		t.Fatal(err)
	}
}

// again starts it over what change makes of its directory.
func (u *upstream) again(t testing.TB, change func() error) {
	t.Helper()
	u.stop(t)
	if err := change(); err != nil {
		t.Fatal(err)
	}
	u.start(t)
}

func (u *upstream) add(t testing.TB, events []eventlog.Event) {
	t.Helper()
	if _, err := u.log.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

func (u *upstream) source(t testing.TB) *httpsource.Source {
	t.Helper()
	src, err := httpsource.Open(httpsource.Options{URL: "https://" + u.address, CA: u.cert})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// TestACopyOfTheLogOfAnotherServerKeepsThePromisesOfASource, by encrypted connections.
func TestACopyOfTheLogOfAnotherServerKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		u, dir, saved := newUpstream(t), t.TempDir(), filepath.Join(t.TempDir(), "saved")
		return sourcetest.Place{
			Add: u.add, Tails: true, Durable: true,
			Open: func(t testing.TB) eventlog.Source {
				return caughtUp{open(t, Options{Dir: dir, Source: u.source(t)}), u.source(t)}
			},
			Leave:  u.stop,
			Return: u.start,
			Save:   func(t testing.TB) { u.again(t, func() error { return os.CopyFS(saved, os.DirFS(u.dir)) }) },
			Restore: func(t testing.TB) {
				u.again(t, func() error {
					if err := os.RemoveAll(u.dir); err != nil {
						return err
					}
					return os.CopyFS(u.dir, os.DirFS(saved))
				})
			},
		}
	})
}
