package mirror

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// halting is a source of two partitions, of the same events, that does not answer until it is told to: neither which
// partitions there are, nor what is in the second.
type halting struct {
	*scripted
	names, second chan struct{} // closed when it answers
}

const partition1 = "1"

func answered(ctx context.Context, when chan struct{}) error {
	select {
	case <-when:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *halting) Partitions(ctx context.Context) ([]string, error) {
	return []string{partition0, partition1}, answered(ctx, h.names)
}

func (h *halting) Head(ctx context.Context, _ string) (uint64, error) {
	return h.Log.Head(ctx, partition0)
}

func (h *halting) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	if name == partition1 {
		if err := answered(ctx, h.second); err != nil {
			return nil, err
		}
	}
	return h.Log.Read(ctx, partition0, after, most)
}

// TestSomePartitionsAreNeverTakenForAll: while the source says nothing, the copy names none until each has been copied
// from once, also where it is opened again. Who folds them would take the rows of some for those of all.
func TestSomePartitionsAreNeverTakenForAll(t *testing.T) {
	fs, answers := vfs.NewMem(), make(chan struct{})
	close(answers)
	within := func(names, second chan struct{}, do func(m *Mirror)) {
		src := &halting{scripted: newScripted(t, sourcetest.Events(5)), names: names, second: second}
		m := open(t, Options{Dir: "mirror", FS: fs, Source: src})
		m.patience = look
		do(m)
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	none := func(m *Mirror) {
		t.Helper()
		if names, err := m.Partitions(t.Context()); !errors.Is(err, errSilent) {
			t.Errorf("the copy names %v, and fails with %v", names, err)
		}
	}
	within(make(chan struct{}), answers, none)
	within(answers, make(chan struct{}), func(m *Mirror) {
		until(t, "copying the first", func() bool { _, there := m.state.at(partition0); return there })
		none(m)
	})
	within(make(chan struct{}), answers, none)
	within(answers, answers, func(m *Mirror) {
		until(t, "copying all", func() bool { return !m.state.isPartial() })
	})
	within(make(chan struct{}), answers, func(m *Mirror) {
		names, err := m.Partitions(t.Context())
		if diff := cmp.Diff([]string{partition0, partition1}, names); err != nil || diff != "" {
			t.Errorf("of a whole copy: %v (-want +got)\n%s", err, diff)
		}
	})
}

// TestACopyOfAFormerProgramCountsAsWholeOnceItsSourceHasAnswered: the first programs kept nothing that told whether
// they had copied from every partition.
func TestACopyOfAFormerProgramCountsAsWholeOnceItsSourceHasAnswered(t *testing.T) {
	for name, begin := range map[string][]eventlog.Event{"not begun": nil, "begun": sourcetest.Events(5)} {
		t.Run(name, func(t *testing.T) {
			fs, src := vfs.NewMem(), newScripted(t, sourcetest.Events(5))
			writeFormer(t, fs, begin)
			src.leave()
			m := open(t, Options{Dir: "mirror", FS: fs, Source: src})
			if names, err := m.Partitions(t.Context()); !errors.Is(err, errAway) ||
				!strings.Contains(err.Error(), "bring that back first") {
				t.Fatalf("while the source is away, the copy names %v, and fails with %v", names, err)
			}
			src.back()
			until(t, "copying all", func() bool { return !m.state.isPartial() })
			src.leave()
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			m = open(t, Options{Dir: "mirror", FS: fs, Source: src})
			names, err := m.Partitions(t.Context())
			if diff := cmp.Diff([]string{partition0}, names); err != nil || diff != "" {
				t.Errorf("once it has answered: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// TestAFormerProgramOpensACopyUntilThisOneHasWrittenToIt: while the source is away, who has updated can go back to the
// program that answers from the copy. What this one writes, a former program could not read, and refuses each format
// but its own.
func TestAFormerProgramOpensACopyUntilThisOneHasWrittenToIt(t *testing.T) {
	fs, src := vfs.NewMem(), newScripted(t, sourcetest.Events(5))
	writeFormer(t, fs, sourcetest.Events(5))
	if at, err := CopiedThrough(Options{Dir: "mirror", FS: fs}); err != nil || at[partition0] != 5 {
		t.Fatalf("it is copied through %v, %v", at, err)
	}
	src.leave()
	m := open(t, Options{Dir: "mirror", FS: fs, Source: src})
	until(t, "asking the source", func() bool { return m.state.failure() != nil })
	opens := func() bool {
		is, err := m.store.records.get(formatKey)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Equal(is, []byte{formerFormat})
	}
	if !opens() {
		t.Error("while the source is away, a former program cannot go on with the copy")
	}
	src.back()
	until(t, "copying the first partition", func() bool { p, _ := m.state.at(partition0); return p.met })
	if opens() {
		t.Error("it has the format of a former program, with what that could not read")
	}
}

// writeFormer makes a copy as the first programs did.
func writeFormer(t *testing.T, fs vfs.FS, events []eventlog.Event) {
	t.Helper()
	s, _, err := openStore(Options{Dir: "mirror", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if len(events) > 0 {
		for i := range events {
			events[i].Offset = uint64(i + 1)
		}
		end := uint64(len(events))
		err = s.records.write(partition0, events, standing{Through: end, Head: end, Incarnation: "first"})
	}
	err = errors.Join(err, s.records.db.Set(formatKey, []byte{formerFormat}, pebble.Sync), s.close())
	if err != nil {
		t.Fatal(err)
	}
}

// stuck is a copy that cannot go on with its first partition: its source has forgotten what follows. It says so once.
type stuck struct {
	*memlog.Log
	said atomic.Bool
}

func (s *stuck) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	if name == partition0 {
		return nil, ctx.Err()
	}
	return s.Log.Read(ctx, name, after, most)
}

func (s *stuck) Wait(ctx context.Context, _ eventlog.Offsets) error {
	if s.said.Swap(true) {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return &eventlog.ForgottenError{Partition: partition0, First: 9}
}

// TestTheCopyOfACopyGoesOnWithThePartitionsThatDo: that the other copy cannot go on with one of its partitions, of
// which only a wait tells, is said of that one.
func TestTheCopyOfACopyGoesOnWithThePartitionsThatDo(t *testing.T) {
	src, all := &stuck{Log: memlog.New(memlog.Options{Partitions: 2})}, sourcetest.Events(60)
	add := func(events []eventlog.Event) {
		if _, err := src.Append(t.Context(), events); err != nil {
			t.Fatal(err)
		}
	}
	add(all[:20])
	m := open(t, Options{Dir: t.TempDir(), Source: src})
	forgotten := func() *eventlog.ForgottenError {
		p, _ := m.state.at(partition0)
		return eventlog.ForgottenIn(p.err)
	}
	until(t, "telling what is forgotten", func() bool { return forgotten() != nil })
	add(all[20:])
	head, err := src.Head(t.Context(), partition1)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "going on with the other partition", func() bool { p, _ := m.state.at(partition1); return p.Through == head })
	if lost := forgotten(); lost == nil || lost.Partition != partition0 || lost.First != 9 {
		t.Fatalf("then the first partition has %v", lost)
	}
	if p, _ := m.state.at(partition1); p.err != nil || m.state.failure() != nil {
		t.Errorf("the other partition has %v, and all have %v; want nothing", p.err, m.state.failure())
	}
	if err := m.Wait(t.Context(), eventlog.Offsets{partition1: head}); eventlog.ForgottenIn(err) == nil {
		t.Errorf("who waits is told %v", err)
	}
}
