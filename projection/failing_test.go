package projection_test

import (
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/projection"
)

// TestAStatusSaysSinceWhenSomethingFails, however often it is tried again.
func TestAStatusSaysSinceWhenSomethingFails(t *testing.T) {
	store, c, cfg := newFaultyStore(), &clock{at: epoch}, quick()
	cfg.Now = c.now
	log := openLog(t)
	r := newRunner(t, "script", log, open(t, store), cfg)
	go r.Run(t.Context())
	await(t, r, projection.StateLive)
	if s := status(t, r); !s.FailingSince.IsZero() {
		t.Errorf("it fails since %v, want that nothing does", s.FailingSince)
	}
	tried := make(chan struct{}, 100)
	fails := func(err error) {
		store.mu.Lock()
		defer store.mu.Unlock()
		store.before = func(int) error {
			select {
			case tried <- struct{}{}:
			default:
			}
			return err
		}
	}
	c.move(time.Minute)
	began := c.now()
	fails(errors.New("the disk is gone"))
	add(t, log, 0, event("", upsert("a", 1)))
	await(t, r, projection.StateStalled)
	c.move(time.Hour)
	for range 200 { // as many as are waiting to be taken, and more
		<-tried
	}
	if s := status(t, r); !s.FailingSince.Equal(began) {
		t.Errorf("it fails since %v, want %v, the first time", s.FailingSince, began)
	}
	fails(nil)
	await(t, r, projection.StateLive)
	if s := status(t, r); !s.FailingSince.IsZero() {
		t.Errorf("it fails since %v, want that nothing does any more", s.FailingSince)
	}
}
