package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
)

// settle waits until the source has been asked once, or for a while.
func (m *Mirror) settle(ctx context.Context) error {
	late := time.NewTimer(m.patience)
	defer late.Stop()
	for {
		changed, err := m.state.settled(ctx)
		if changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Partitions implements eventlog.Source: those that are copied. It waits until each of them has been copied from once,
// as long as that goes on, and fails while the source does, or does not answer: who asks would take some for all.
func (m *Mirror) Partitions(ctx context.Context) ([]string, error) {
	if err := m.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.settle(ctx); err != nil {
		return nil, err
	}
	return m.state.names(), nil
}

// whole waits until every partition has been copied from once. Its error is why that may take long.
func (m *Mirror) whole(ctx context.Context) error {
	for {
		changed, err := m.state.whole(ctx)
		if changed == nil {
			return err
		}
		late := time.NewTimer(m.patience)
		select {
		case <-changed:
		case <-late.C:
			return lacking(errSilent)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		late.Stop()
	}
}

// Head implements eventlog.Source: it is that of the source, or the last known one while that cannot be read.
func (m *Mirror) Head(ctx context.Context, name string) (uint64, error) {
	if err := m.settle(ctx); err != nil {
		return 0, err
	}
	v, err := m.state.look(ctx, name)
	if err != nil {
		return 0, err
	}
	if lost := eventlog.ForgottenIn(v.err); !v.asked || v.failing != nil || v.err != nil && lost == nil {
		return v.known(), nil
	}
	asked, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	head, err := m.src.Head(asked, name)
	if err != nil {
		return 0, err
	}
	if head > v.Head {
		m.state.change(name, func(p *partition) { p.Head = max(p.Head, head) })
	}
	return max(head, v.known()), nil
}

// Incarnation implements eventlog.RecreatableSource: it is that of the partition that was copied, or, where another is
// in its place by now, the one of that.
func (m *Mirror) Incarnation(ctx context.Context, name string) (string, error) {
	if err := m.settle(ctx); err != nil {
		return "", err
	}
	v, err := m.state.look(ctx, name)
	if eventlog.Replaced(v.err) {
		return v.is, err
	}
	return v.Incarnation, err
}

// Replaced returns the *eventlog.ReplacedError of a partition that is another in the source than the one that was
// copied, nil where there is none. It fails while the source does not say.
func (m *Mirror) Replaced(ctx context.Context) (replaced, err error) {
	if err := m.settle(ctx); err != nil {
		return nil, err
	}
	for _, name := range m.state.names() {
		if p, _ := m.state.at(name); eventlog.Replaced(p.err) {
			return p.err, nil
		}
	}
	return nil, m.answers(ctx)
}

// answers is why the source does not say anything now, nil where it does.
func (m *Mirror) answers(ctx context.Context) error {
	if changed, err := m.state.settled(ctx); changed != nil || err != nil {
		return cmp.Or(err, errSilent)
	}
	return m.state.failure()
}

// Current implements eventlog.CopiedSource.
func (m *Mirror) Current(ctx context.Context, name string) error {
	if err := m.settle(ctx); err != nil {
		return err
	}
	if p, _ := m.state.at(name); p.err != nil && eventlog.ForgottenIn(p.err) == nil {
		return p.err
	}
	return m.answers(ctx)
}

// lacking says what to do where the source fails before each of its partitions has been copied from.
func lacking(err error) error {
	return fmt.Errorf("the copy of the events may lack whole partitions until its source has answered; bring that back "+
		"first: %w", err)
}

var errSilent = errors.New("the source of the events does not answer")

// Read implements eventlog.Source. At the end of the copy it waits for what the source is known to have there. While
// the source cannot be copied, there is none at the end, and Wait says why: who reads may have events in hand.
func (m *Mirror) Read(ctx context.Context, name string, after uint64, most int) ([]eventlog.Event, error) {
	for {
		v, err := m.state.look(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case eventlog.Replaced(v.err):
			return nil, v.err
		case most <= 0:
			return nil, nil
		case after < v.Begin:
			return nil, v.forgotten(name, after)
		case after < v.Through:
			events, err := m.scan(name, after, v.Through, most)
			if len(events) > 0 || err != nil || v.Head <= v.Through {
				return events, err
			}
			after = v.Through
		}
		switch err := v.stops(after, v.failing); {
		case err != nil && after == v.Through:
			return nil, nil
		case err != nil:
			return nil, err
		case after > v.Through && v.asked:
			return m.src.Read(ctx, name, after, most)
		case after >= v.Head && v.asked:
			return nil, nil
		}
		select { // for what the source has, or that it has been asked
		case <-v.changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (v *view) forgotten(name string, after uint64) error {
	return &eventlog.ForgottenError{Partition: name, After: after, First: v.Begin + 1}
}

// scan reads what is copied. What the source could not read when it was copied, it may by now.
func (m *Mirror) scan(name string, after, through uint64, most int) ([]eventlog.Event, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	events, err := m.store.records.scan(name, after, through, most)
	if err != nil {
		return nil, m.unreadable(name, after, err)
	}
	for i := range events {
		if events[i].Malformed != nil {
			events[i] = eventlog.Redecode(m.src, events[i])
		}
	}
	return events, nil
}

func (m *Mirror) unreadable(name string, after uint64, err error) error {
	return fmt.Errorf("read the copy of the events in %s after offset %d of partition %q: %w", m.store.dir, after, name,
		err)
}

// EmptyThrough implements eventlog.SparseSource.
func (m *Mirror) EmptyThrough(ctx context.Context, name string, after uint64) (uint64, error) {
	v, err := m.state.look(ctx, name)
	switch {
	case err != nil:
		return 0, err
	case eventlog.Replaced(v.err):
		return 0, v.err
	case after < v.Begin:
		return 0, v.forgotten(name, after)
	case after == v.Through:
		return after, nil
	case after > v.Through:
		if err := v.stops(after, v.failing); err != nil {
			return 0, err
		}
		return eventlog.EmptyThrough(ctx, m.src, name, after)
	}
	end, err := m.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	next, err := m.store.records.next(name, after, v.Through)
	switch {
	case err != nil:
		return 0, m.unreadable(name, after, err)
	case next > 0:
		return next - 1, nil
	}
	return v.Through, nil
}

// wakeAtMost is how often those are woken who are further on than the copy.
const wakeAtMost = 20 * time.Millisecond

// Wait implements eventlog.Source. It fails while nothing that is copied follows and the source cannot be copied.
func (m *Mirror) Wait(ctx context.Context, after eventlog.Offsets) error {
	for {
		changed, ahead, err := m.state.follows(ctx, after)
		switch {
		case changed == nil:
			return err
		case ahead:
			return m.waitAhead(ctx, after)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitAhead waits for the source itself: the copy is yet to come to where the reader is.
func (m *Mirror) waitAhead(ctx context.Context, after eventlog.Offsets) error {
	err := m.src.Wait(ctx, after)
	if m.state.isClosed() {
		return eventlog.ErrClosed
	}
	if err == nil { // what follows may be yet to be copied
		err = backoff.Wait(ctx, wakeAtMost)
	}
	return err
}
