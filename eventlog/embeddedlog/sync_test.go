package embeddedlog

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/foldql/foldql/eventlog"
)

// faultyDisk is a file system whose syncs of the write-ahead log a test can hold up or let fail.
type faultyDisk struct {
	syncs   atomic.Int64
	held    atomic.Pointer[chan struct{}] // syncs wait until it is closed
	waiting chan struct{}                 // told by each sync that is held up
	fault   atomic.Pointer[error]
}

func (d *faultyDisk) fs() vfs.FS {
	return errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		default:
			return nil
		}
		if !strings.HasSuffix(op.Path, ".log") {
			return nil
		}
		d.syncs.Add(1)
		if held := d.held.Load(); held != nil {
			d.waiting <- struct{}{}
			<-*held
		}
		if fault := d.fault.Load(); fault != nil {
			return *fault
		}
		return nil
	}))
}

func numbered(n int) []eventlog.Event {
	return []eventlog.Event{{ID: fmt.Sprint(n), Source: "/s", Type: "T", Data: []byte(`{}`)}}
}

func TestAppendsThatComeDuringASyncShareTheNextAndAreNotReadBefore(t *testing.T) {
	d := &faultyDisk{waiting: make(chan struct{}, 1000)}
	l, err := Open(Options{Dir: "log", FS: d.fs()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	release := make(chan struct{})
	d.held.Store(&release)
	before := d.syncs.Load()

	const appends = 50
	var work sync.WaitGroup
	add := func(n int) {
		work.Go(func() {
			at, err := l.Append(t.Context(), numbered(n))
			if err != nil {
				t.Error(err)
				return
			}
			if events, err := l.Read(t.Context(), Partition, at[0].Offset-1, 1); err != nil || len(events) != 1 {
				t.Errorf("event %d was acknowledged and cannot be read: %v", n, err)
			}
		})
	}
	add(0)
	<-d.waiting
	for n := 1; n < appends; n++ {
		add(n)
	}
	add(0) // again: must not be answered before the first is synced
	for written(l) < appends {
		runtime.Gosched()
	}
	head, err := l.Head(t.Context(), Partition)
	events, err2 := l.Read(t.Context(), Partition, 0, 100)
	if head != 0 || len(events) != 0 || err != nil || err2 != nil {
		t.Errorf("before the sync: head %d, %d events, errors %v, %v", head, len(events), err, err2)
	}
	d.held.Store(nil)
	close(release)
	work.Wait()
	if syncs := d.syncs.Load() - before; syncs > appends/5 {
		t.Errorf("%d appends took %d syncs", appends, syncs)
	}
	if head, err := l.Head(t.Context(), Partition); head != appends || err != nil {
		t.Errorf("head %d, error %v", head, err)
	}
}

// written returns how many events have an offset, synced or not.
func written(l *Log) uint64 {
	l.order.Lock()
	defer l.order.Unlock()
	return l.last
}

func TestAfterAFailedSyncNothingIsAcknowledged(t *testing.T) {
	d := &faultyDisk{}
	l, err := Open(Options{Dir: "log", FS: d.fs()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), numbered(1)); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("the disk is gone")
	d.fault.Store(&fault)
	if _, err := l.Append(t.Context(), numbered(2)); !errors.Is(err, fault) {
		t.Errorf("Append while syncs fail: %v", err)
	}
	d.fault.Store(nil)
	for _, n := range []int{1, 2, 3} {
		if _, err := l.Append(t.Context(), numbered(n)); !errors.Is(err, fault) {
			t.Errorf("Append of event %d afterwards: %v", n, err)
		}
	}
	events, err := l.Read(t.Context(), Partition, 0, 10)
	if err != nil || len(events) != 1 || events[0].ID != "1" {
		t.Errorf("what was synced before: %v, error %v", events, err)
	}
	l.Close() // may tell of the fault again
}
