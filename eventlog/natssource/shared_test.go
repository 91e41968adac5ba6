package natssource_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// TestAStreamThatAServerGivesOutKeepsThePromisesOfASource: what is empty, forgotten and replaced is so for those who
// follow the server, too.
func TestAStreamThatAServerGivesOutKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		p := newPlace(t, nil)
		return sourcetest.Place{
			Add: p.add, Tails: true, Durable: true,
			Open: func(t testing.TB) eventlog.Source {
				h := &httpsource.Handler{Source: p.open(t), Logger: slog.New(slog.DiscardHandler)}
				mux := http.NewServeMux()
				mux.HandleFunc("GET "+httpsource.EventsPath, h.Events)
				mux.HandleFunc("GET "+httpsource.PartitionsPath, h.Partitions)
				mux.HandleFunc("GET "+httpsource.WaitPath, h.Wait)
				server := httptest.NewServer(mux)
				t.Cleanup(server.Close)
				s, err := httpsource.Open(httpsource.Options{URL: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Delete: func(t testing.TB, offset uint64) {
				if err := p.stream(t).DeleteMsg(t.Context(), offset); err != nil {
					t.Fatal(err)
				}
			},
			Forget: func(t testing.TB, through uint64) {
				if err := p.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(through+1)); err != nil {
					t.Fatal(err)
				}
			},
			Recreate: p.recreate,
			Leave:    p.Leave,
			Return:   p.Return,
			Save:     p.Save,
			Restore:  p.Restore,
			Remove:   p.remove,
		}
	})
}
