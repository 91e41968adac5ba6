package httpsource_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
)

// many is a source of as many partitions as it has names, of which all have come to an end.
type many struct {
	eventlog.Source
	names []string
	asked chan eventlog.Offsets // for what a wait is to follow
}

func (m many) Partitions(context.Context) ([]string, error) { return m.names, nil }

func (m many) Head(context.Context, string) (uint64, error) { return 1 << 40, nil }

func (m many) Wait(_ context.Context, after eventlog.Offsets) error {
	m.asked <- after
	return nil
}

// behindProxy is the address of a server behind a proxy that takes no address of more than 8 KB.
func behindProxy(t *testing.T, server http.Handler) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.RequestURI) > 8<<10 {
			w.WriteHeader(http.StatusRequestURITooLong)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAWaitGetsThroughAProxyHoweverManyPartitionsThereAre, with all that it waits for.
func TestAWaitGetsThroughAProxyHoweverManyPartitionsThereAre(t *testing.T) {
	for _, n := range []int{1, 50, 1000} {
		log := many{asked: make(chan eventlog.Offsets, 1)}
		after := eventlog.Offsets{}
		for i := range n {
			name := strings.Repeat("long", 20) + fmt.Sprint(i)
			log.names, after[name] = append(log.names, name), 1<<40
		}
		src := open(t, behindProxy(t, serve(t, log).Handler))
		defer src.Close()
		if names, err := src.Partitions(t.Context()); len(names) != n || err != nil {
			t.Fatalf("%d partitions, %v", len(names), err)
		}
		if err := src.Wait(t.Context(), after); err != nil {
			t.Fatalf("a wait for %d partitions: %v", n, err)
		}
		if got := <-log.asked; len(got) != n {
			t.Errorf("a wait for %d partitions is one for %d", n, len(got))
		}
	}
}

// TestAWaitOfManyPartitionsIsUnderstoodByAnEarlierVersion, which has everything in the address.
func TestAWaitOfManyPartitionsIsUnderstoodByAnEarlierVersion(t *testing.T) {
	asked := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+httpsource.WaitPath, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("after")
		fmt.Fprint(w, `{"more":true}`)
	})
	earlier := httptest.NewServer(mux)
	defer earlier.Close()
	src := open(t, earlier.URL)
	defer src.Close()
	after := eventlog.Offsets{}
	for i := range 300 {
		after[fmt.Sprintf("partition-%d", i)] = 7
	}
	if err := src.Wait(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; strings.Count(got, ":7") != len(after) {
		t.Errorf("it is asked to wait after %.100s", got)
	}
}
