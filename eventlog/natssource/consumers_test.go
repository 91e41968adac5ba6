package natssource_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/shared"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// TestReadersThatFollowTogetherNeedOneConsumer of the stream, however often they are woken: a server forgets the others
// late.
func TestReadersThatFollowTogetherNeedOneConsumer(t *testing.T) {
	p := newPlace(t, nil)
	s := shared.New(p.open(t), 0)
	const readers, events = 8, 30
	read, failed := make(chan struct{}, readers*events), make(chan error, readers)
	follow := func() error {
		for after := uint64(0); after < events; {
			if err := s.Wait(t.Context(), eventlog.Offsets{streamName: after}); err != nil {
				return err
			}
			some, err := s.Read(t.Context(), streamName, after, 10)
			if err != nil {
				return err
			}
			for range some {
				after++
				read <- struct{}{}
			}
		}
		return nil
	}
	for range readers {
		go func() {
			if err := follow(); err != nil {
				failed <- err
			}
		}()
	}
	for _, e := range sourcetest.Events(events) {
		p.add(t, []eventlog.Event{e})
		for range readers {
			select {
			case <-read:
			case err := <-failed:
				t.Fatal(err)
			}
		}
	}
	info, err := p.stream(t).Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := info.State.Consumers; n > 2 {
		t.Errorf("%d consumers for %d readers and %d events", n, readers, events)
	}
}
