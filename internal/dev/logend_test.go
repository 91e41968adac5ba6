package dev

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// fakeLog is a log of one partition: the types of its events, in their order.
type fakeLog struct {
	incarnation string
	types       []string
}

// serve is a server that has the log.
func (l *fakeLog) serve(t *testing.T) *server {
	t.Helper()
	s := httptest.NewServer(l.handler(t))
	t.Cleanup(s.Close)
	return &server{address: strings.TrimPrefix(s.URL, "http://")}
}

// handler answers as a server that has the log.
func (l *fakeLog) handler(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events/partitions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"partitions":[{"name":"0","incarnation":%q,"head":%d}]}`, l.incarnation, len(l.types))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	mux.HandleFunc("POST /admin/events/search", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Types []string
			From  map[string]int
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		events := "[]"
		for _, typ := range l.types[min(asked.From["0"], len(l.types)):] {
			if slices.Contains(asked.Types, typ) {
				events = "[{}]"
			}
		}
		fmt.Fprintf(w, `{"events":%s}`, events)
	})
	return mux
}

// A field was there, and is gone; another one is new.
const (
	lockOfWhole  = "# The lock.\n\ntype A {\n  id: ID!\n  at: Date!\n}\n"
	lockWithout  = "# The lock.\n\ntype A\n    @removed(field: \"at\", type: \"Date\") {\n  id: ID!\n}\n"
	lockWithNew  = "# The lock.\n\ntype A {\n  id: ID!\n  at: Date!\n  nte: String @added(as: \"0\")\n}\n"
	lockWithMore = "# The lock.\n\ntype A {\n  id: ID!\n  at: Date!\n  nte: String @added(as: \"0\")\n}\n\n" +
		"type B {\n  id: ID!\n}\n"
)

// TestWhatNoProgramKnewIsFreeToChange, whatever the log has: a line that is deleted and put back, while the code does
// not compile without it, leaves nothing behind.
func TestWhatNoProgramKnewIsFreeToChange(t *testing.T) {
	log := &fakeLog{"x", []string{"A"}}
	for name, srv := range map[string]*server{"a server runs": log.serve(t), "none runs": nil} {
		d := drafting(t, lockOfWhole, lockWithout)
		if _, err := d.loosen(srv); err != nil {
			t.Fatal(err)
		}
		if got, err := d.read(); err != nil || got != lockOfWhole {
			t.Errorf("%s: %v, the lock is\n%s", name, err, got)
		}
	}
}

// TestAChangeOfAnEventIsFreeUntilAnotherIsLogged: events of before do not have what a server first knew after them.
func TestAChangeOfAnEventIsFreeUntilAnotherIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		then    func(l *fakeLog, d *draft, srv *server)
		isThere bool
	}{
		"no event came": {func(*fakeLog, *draft, *server) {}, false},
		"another came":  {func(l *fakeLog, _ *draft, _ *server) { l.types = append(l.types, "C") }, false},
		"one came":      {func(l *fakeLog, _ *draft, _ *server) { l.types = append(l.types, "A") }, true},
		"the server started again": {func(_ *fakeLog, d *draft, srv *server) {
			d.started(srv)
		}, false},
		"the log was made anew": {func(l *fakeLog, d *draft, srv *server) {
			*l = fakeLog{"y", []string{"A", "C", "C", "C"}}
			d.started(srv)
		}, true},
		"the log was put back to what it was before": {func(l *fakeLog, d *draft, srv *server) {
			l.types = l.types[:1]
			d.started(srv)
			l.types = append(l.types, "A", "C", "C")
		}, true},
		"the next one knew it, too": {func(l *fakeLog, d *draft, srv *server) {
			if _, err := d.loosen(srv); err != nil {
				t.Fatal(err)
			}
			l.types = append(l.types, "A") // while that one is built
			d.wrote = lockWithMore
			d.built(srv)
			d.started(srv)
			if err := d.served(srv); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		log := &fakeLog{"x", []string{"A", "A", "C"}}
		srv := log.serve(t)
		d := drafting(t, lockOfWhole, lockWithNew)
		d.built(srv)
		c.then(log, d, srv)
		if now, _ := d.read(); now != d.wrote {
			if err := d.putBack(now, d.wrote); err != nil {
				t.Fatal(err)
			}
		}
		want := lockOfWhole
		if c.isThere {
			want = d.wrote
		}
		if _, err := d.loosen(srv); err != nil {
			t.Fatal(err)
		}
		if got, err := d.read(); err != nil || got != want {
			t.Errorf("%s: %v, the lock is\n%s", name, err, got)
		}
	}
}

// TestAServerThatWentOnIsNotForgotten: where an event of a draft came just before the next server started, and the lock
// is what it was, events of that server count whenever they came.
func TestAServerThatWentOnIsNotForgotten(t *testing.T) {
	log := &fakeLog{"x", []string{"A"}}
	srv := log.serve(t)
	d := drafting(t, lockOfWhole, lockWithNew)
	d.built(srv)
	if _, err := d.loosen(srv); err != nil {
		t.Fatal(err)
	}
	log.types = append(log.types, "A")
	if err := d.putBack(lockOfWhole, lockWithout); err != nil {
		t.Fatal(err)
	}
	d.wrote = lockWithout
	d.built(srv)
	if err := d.served(srv); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockWithNew || d.base != got {
		t.Fatalf("%v, the lock is\n%s", err, got)
	}
	log.types = append(log.types, "A") // of the server that lacks the field
	if _, err := d.loosen(srv); err != nil {
		t.Fatal(err)
	}
	d.wrote = lockWithMore
	d.built(srv)
	if from := *d.logged.since; len(from) > 0 {
		t.Errorf("events count from %v alone", from)
	}
}

// TestEventsThatTheLockDoesNotKnowCountWheneverTheyCame: nothing says how they are read but what is declared of them.
func TestEventsThatTheLockDoesNotKnowCountWheneverTheyCame(t *testing.T) {
	srv := (&fakeLog{"x", []string{"B", "A"}}).serve(t)
	d := drafting(t, lockOfWhole, lockWithMore)
	d.built(srv)
	if _, err := d.loosen(srv); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockWithMore {
		t.Errorf("%v, the lock is\n%s", err, got)
	}
}
