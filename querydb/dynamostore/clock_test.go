package dynamostore

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// clockwork is a DynamoDB that refuses signatures of another time than its own, as that of AWS does.
type clockwork struct {
	ahead  time.Duration // of the clock of this machine
	writes atomic.Int64
}

func (c *clockwork) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := time.Now().UTC().Add(c.ahead)
	w.Header().Set("Date", now.Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if off := now.Sub(signed).Abs(); err != nil || off > 5*time.Minute {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"InvalidSignatureException","message":"Signature expired: it is later"}`)
		return
	}
	if !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
		c.writes.Add(1)
	}
	_, _ = io.WriteString(w, "{}")
}

// TestAServerWhoseClockStoodStillWritesNothing: by its clock it is in time, and what it has read is a month old. It may
// read, by which the SDK learns what the time is.
func TestAServerWhoseClockStoodStillWritesNothing(t *testing.T) {
	service := &clockwork{ahead: 31 * 24 * time.Hour}
	e := httptest.NewServer(service)
	t.Cleanup(e.Close)
	s := storeAt(t, e.URL)
	for range 2 {
		for name, b := range map[string]driver.Batch{
			"a put":         {Writes: []driver.Write{put(t, "a", 1, 1)}},
			"a delete":      {Writes: []driver.Write{gone("a", 0)}},
			"a transaction": {Writes: []driver.Write{put(t, "a", 1, 1), put(t, "b", 1, 1)}, Atomic: true},
		} {
			b.Deadline = time.Now().Add(10 * time.Minute)
			err := s.Apply(t.Context(), b)
			if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "clock") {
				t.Errorf("%s: %v, want ErrUnavailable that tells of the clock", name, err)
			}
		}
		if err := ask(t.Context(), s); err != nil {
			t.Errorf("a query: %v", err)
		}
	}
	if n := service.writes.Load(); n > 0 {
		t.Errorf("%d writes were taken", n)
	}
}
