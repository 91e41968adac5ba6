package projection_test

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// leaseModel is what the documents say of a lease that ends, of which deals hold copies that are null where there is
// none. It knows of no commits, windows or tasks: between any two events, a copy that is yet to follow may do so or
// not. So it says of each copy what it may be.
type leaseModel struct {
	cascades   bool // copies follow by the schema; else they are filled in and taken away alone
	window     int
	stored     bool
	none       bool // the last event that wrote the lease wrote it as expired, with more of it than the end changed
	note       string
	ends       time.Time
	watermarks map[string]time.Time // by partition key
	copies     map[string]copyStates
	past       []leaseMoment // those before the last events
}

// copyStates are those in which a copy may be.
type copyStates map[copyState]bool

type copyState struct {
	note           string // "" is null
	pending        bool   // it is yet to follow
	asked, takenBy bool   // an op has asked for it to follow; an event has taken the lease away
}

// leaseMoment is how things were before an event.
type leaseMoment struct {
	text   string // of the lease, for copies; "" is none
	plain  bool   // copies follow the event by the schema, as far as it changes the lease
	copies map[string]copyStates
}

func newLeaseModel(mode refMode, window int) *leaseModel {
	return &leaseModel{
		cascades: mode.cascade, window: window,
		watermarks: map[string]time.Time{}, copies: map[string]copyStates{},
	}
}

// fold folds an event, which has one step that changes the lease, or steps that make copies of it.
func (m *leaseModel) fold(e *eventlog.Event) {
	var steps []dealStep
	if err := json.Unmarshal(e.Data, &steps); err != nil {
		panic(err)
	}
	if e.Time.After(m.watermarks[e.PartitionKey]) {
		m.watermarks[e.PartitionKey] = e.Time
	}
	at := m.watermarks[e.PartitionKey]
	plain := !slices.ContainsFunc(steps, func(s dealStep) bool { return s.Silent || s.Cascade != nil })
	m.past = append(m.past[max(0, len(m.past)-m.window):], leaseMoment{m.text(at), plain, maps.Clone(m.copies)})
	for _, s := range steps {
		if s.Deal.FormerID != "" {
			m.hold(s.Deal.ID, at)
		} else {
			m.change(&s, at)
		}
	}
	for id := range m.copies {
		m.copies[id] = m.mayFollow(m.copies[id])
	}
}

// text is that of the lease for an event; "" where there is none.
func (m *leaseModel) text(at time.Time) string {
	if !m.stored || !m.ends.After(at) {
		return ""
	}
	return m.note
}

// hold makes a copy.
func (m *leaseModel) hold(id string, at time.Time) {
	now := copyStates{}
	for s := range m.copies[id] {
		s.note = m.text(at)
		now[s] = true
	}
	if len(now) == 0 {
		now[copyState{note: m.text(at)}] = true
	}
	m.copies[id] = now
	for i := range m.past {
		delete(m.past[i].copies, id) // what it was does not come back
	}
}

// change changes the lease.
func (m *leaseModel) change(s *dealStep, at time.Time) {
	before := m.text(at)
	switch s.Op {
	case "nodeal", "nodeals":
		m.stored, m.none = false, false
	case "upsert":
		if before == "" {
			m.note, m.ends = s.Deal.Note, s.Deal.Ends
		}
		m.stored, m.note = true, m.note+s.Text
	default:
		m.stored, m.note, m.ends = true, s.Deal.Note, s.Deal.Ends
	}
	after := m.text(at)
	if m.none = m.stored && after == "" && m.note != before; m.stored && !m.none {
		after = m.note // its end may have changed alone
	}
	if after == before || s.Silent {
		return
	}
	for id, states := range m.copies {
		now := copyStates{}
		for was := range states {
			now[m.follow(was, s, after)] = true
		}
		m.sum(id, after, now)
		m.copies[id] = now
	}
}

// follow is a copy after an event that copies follow.
func (m *leaseModel) follow(was copyState, s *dealStep, after string) copyState {
	if s.Cascade != nil && s.Cascade.Mode == projection.Transactional {
		was.note = after
		return was
	}
	was.pending, was.asked, was.takenBy = true, was.asked || s.Cascade != nil, was.takenBy || after == ""
	return was
}

// sum adds what a copy may be where events that copies follow by the schema take each other back in one commit, which
// as a whole changes nothing.
func (m *leaseModel) sum(id, after string, now copyStates) {
	for _, past := range slices.Backward(m.past) {
		if !past.plain {
			return
		}
		if past.text == after {
			maps.Copy(now, past.copies[id])
		}
	}
}

// mayFollow adds what becomes of copies that follow now.
func (m *leaseModel) mayFollow(states copyStates) copyStates {
	all := maps.Clone(states)
	for s := range states {
		if !s.pending {
			continue
		}
		switch {
		case m.stored && !m.none:
			if m.cascades || s.asked || s.note == "" {
				s.note = m.note
			}
		case s.takenBy:
			s.note = ""
		}
		s.pending = false
		all[s] = true // others may be yet to follow, and have it follow again
		all[copyState{note: s.note}] = true
	}
	return all
}

// sweep removes the lease where it has ended for all partitions, and returns before when.
func (m *leaseModel) sweep(partitions int) (before time.Time) {
	if len(m.watermarks) < partitions {
		return before
	}
	before = slices.MinFunc(slices.Collect(maps.Values(m.watermarks)), time.Time.Compare)
	if m.stored && m.ends.Before(before) {
		m.stored = false
	}
	for id := range m.copies {
		m.copies[id] = m.mayFollow(m.copies[id])
	}
	m.past = nil
	return before
}

// rest says that no copy is yet to follow, and returns those that may not be what they are.
func (m *leaseModel) rest(copies map[string]string) (wrong []string) {
	for id, states := range m.copies {
		note := copies[id]
		if may := m.mayFollow(states); !may[copyState{note: note}] && !slices.ContainsFunc(slices.Collect(maps.Keys(may)),
			func(s copyState) bool { return !s.pending && s.note == note }) {
			wrong = append(wrong, id)
		}
		m.copies[id] = copyStates{{note: note}: true}
	}
	m.past = nil
	return wrong
}
