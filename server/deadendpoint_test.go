package server

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// cable leads to an engine, and can be cut: what is connected is cut off, and who connects is turned away, or, where it
// is silent, let in and never answered.
type cable struct {
	listener net.Listener
	to       string

	mu       sync.Mutex
	mode     mode
	open     map[net.Conn]bool
	accepted int
}

type mode int

const (
	whole mode = iota
	cut
	silent
)

func layCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: l, to: strings.TrimPrefix(to, "http://"), open: map[net.Conn]bool{}}
	go c.run()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		c.turn(cut)
	})
	return c
}

func (c *cable) run() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		go c.connect(conn)
	}
}

func (c *cable) connect(conn net.Conn) {
	m := c.admit(conn)
	if m == silent {
		_, _ = io.Copy(io.Discard, conn)
	}
	if m != whole {
		_ = conn.Close()
		return
	}
	back, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = conn.Close()
		return
	}
	go func() { _, _ = io.Copy(back, conn); _ = back.Close() }()
	_, _ = io.Copy(conn, back)
	_ = conn.Close()
}

func (c *cable) admit(conn net.Conn) mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted++
	c.open[conn] = true
	return c.mode
}

func (c *cable) turn(m mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	for conn := range c.open {
		_ = conn.Close()
	}
	clear(c.open)
}

func (c *cable) attempts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted
}

// TestAServerWhoseDynamoDBDoesNotAnswerSaysSoAndGoesOnByItself: queries are UNAVAILABLE at once after the first, which
// is seen by what reaches the endpoint; /readyz says no; events are taken; and all goes on when the endpoint is back.
func TestAServerWhoseDynamoDBDoesNotAnswerSaysSoAndGoesOnByItself(t *testing.T) {
	d := deploy(t, dynamolocal.Dynoxide)
	way := layCable(t, d.URL)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://"+way.listener.Addr().String())
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s := serve(t, d.app, start{args: d.options})
	s.post(t, slices.Collect(taskEvents(1, 20)))
	s.folded(t, 20)
	s.ready(t)
	const query = `{ Task(id: "7") { title } }`
	folded := 20
	for name, m := range map[string]mode{"cut": cut, "silent": silent} {
		way.turn(m)
		if got := s.query(t, query); !strings.Contains(got, `"UNAVAILABLE"`) {
			t.Fatalf("%s: the first query: %s", name, got)
		}
		s.until(t, "suspended", func() bool {
			_, all := s.request(t, "GET", "/metrics", "")
			return strings.Contains(all, "foldql_dynamodb_suspended 1")
		})
		before, began := way.attempts(), time.Now()
		const queries = 300
		for range queries {
			if got := s.query(t, query); !strings.Contains(got, `"UNAVAILABLE"`) {
				t.Fatalf("%s: a later query: %s", name, got)
			}
		}
		// Queries ask once a second, and what folds asks, with pauses that grow.
		if n, most := way.attempts()-before, 10+5*int(time.Since(began)/time.Second); n > most {
			t.Errorf("%s: %d queries connected %d times, want %d at most", name, queries, n, most)
		}
		s.until(t, "not ready", func() bool {
			status, _ := s.request(t, "GET", "/readyz", "")
			return status == http.StatusServiceUnavailable
		})
		if status, _ := s.request(t, "GET", "/livez", ""); status != http.StatusOK {
			t.Errorf("%s: /livez says %d", name, status)
		}
		s.post(t, slices.Collect(taskEvents(folded+1, 5)))
		folded += 5
		way.turn(whole)
		s.until(t, "answered", func() bool { return strings.Contains(s.query(t, query), "Task 7") })
		s.ready(t)
		s.folded(t, folded)
	}
	s.end(t)
}
