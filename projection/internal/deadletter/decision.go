package deadletter

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// KindDecision begins the kind of the notes of decisions; the name of the projection follows.
const KindDecision = "decision:"

// Decision records what was decided about a dead letter, so that a fold of the whole log does the same at the same
// apply point. Such records outlive a restart of the projection. One that was retried, and failed again, is a dead
// letter still: then it is about the last time that it was tried, so that the same code tries it there again, and not
// before.
type Decision struct {
	position.Ref `json:"-"`
	// Subject is that of the event; "" where it has none, or an earlier version made the decision.
	Subject string `json:"subject,omitempty"`
	// Skip: the event never takes effect. Else it is tried at Moment, the offset of the event after which it was, in the
	// order of Seq there: see ApplyPoints.
	Skip   bool   `json:"skip,omitempty"`
	Moment uint64 `json:"moment,omitempty"`
	Seq    int    `json:"seq,omitempty"`
	// Failed is the version of the projection under which the event has failed again, "" where it has not. To another
	// version the record says nothing: what has failed may succeed then, at its own place.
	Failed string `json:"failed,omitempty"`
	// Generation is that of the rows in which the decision took effect; a fold that is begun later does the same.
	Generation int `json:"generation"`
	// Beside are the generations that there were beside that one. Their folds may have come past the event by themselves:
	// they try it at Moment only where it is a dead letter of theirs by then.
	Beside []int `json:"beside,omitempty"`
	// Upstream is what the server that this one follows has decided, where the decision is taken over from there; nil for
	// one that was made here.
	Upstream *Verdict `json:"upstream,omitempty"`
	// IfLetter, in a Plan, says that the event is tried only where it is a dead letter: see Beside.
	IfLetter bool `json:"-"`
	// Event is what the decision is about, and After the event at Moment; nil where they could not be read.
	Event *position.Anchor `json:"event,omitempty"`
	After *position.Anchor `json:"after,omitempty"`
}

// Note is the note of the decision.
func (p Decision) Note(projection string) querydb.Note {
	return querydb.Note{Kind: KindDecision + projection, ID: p.Ref.ID(), Value: encode(p)}
}

// ParseDecision reads a note of a decision.
func ParseDecision(n querydb.Note) (Decision, error) {
	var p Decision
	if err := json.Unmarshal(n.Value, &p); err != nil {
		return p, err
	}
	var err error
	p.Ref, err = position.ParseRef(n.ID)
	return p, err
}

// IsFor reports whether the decision says anything to a fold by that version of the projection.
func (p Decision) IsFor(version string) bool { return p.Failed == "" || p.Failed == version }

// Waits reports whether a projection, come as far as done, has yet to come to where the event is tried.
func (p Decision) Waits(done position.Cursor) bool { return !p.Skip && done.Before(p.Done()) }

// same reports whether both have a fold do the same.
func (p Decision) same(o Decision) bool {
	return p.Skip == o.Skip && p.Done() == o.Done() && p.Failed == o.Failed && slices.Equal(p.Beside, o.Beside)
}

// Ahead reports whether decisions differ in what a projection, come as far as done says, has yet to come to.
func Ahead(known, now map[position.Ref]Decision, done func(partition string) position.Cursor) bool {
	differ := func(all, others map[position.Ref]Decision) bool {
		for at, d := range all {
			if o, there := others[at]; there && o.same(d) {
				continue
			}
			if from := done(at.Partition); at.Offset > from.Offset || d.Waits(from) {
				return true
			}
		}
		return false
	}
	return differ(now, known) || differ(known, now)
}

// Unsettled returns the dead letters about which something was decided, in order: in other rows of the projection, or
// in these and in vain.
func Unsettled(a *Index, decisions map[position.Ref]Decision) (all []position.Ref) {
	for at, d := range decisions {
		if d.Failed == "" && a.Has(at) {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, compareRefs)
	return all
}

// Lacks reports whether the dead letter has not had what was decided about it.
func (l *Letter) Lacks(d Decision) bool { return d.Skip || l.Tried == nil || *l.Tried != d.Done() }

// Plan is all records of a projection, ready for its reader.
type Plan struct {
	Moved     map[position.Ref]bool  // events that have no effect at their own place
	order     map[string][]Decision  // by partition, in the order of their moments
	bySubject map[Subject][]Decision // those of order that have a subject, in the order of the log
}

// PlanReplays makes the Plan of decisions for a version of the projection, and a generation of its rows.
func PlanReplays(records map[position.Ref]Decision, version string, generation int) *Plan {
	plan := &Plan{Moved: map[position.Ref]bool{}, order: map[string][]Decision{}, bySubject: map[Subject][]Decision{}}
	for at, p := range records {
		if !p.IsFor(version) {
			continue
		}
		p.IfLetter = !p.Skip && slices.Contains(p.Beside, generation)
		if !p.IfLetter {
			plan.Moved[at] = true
		}
		if p.Skip {
			continue
		}
		plan.order[at.Partition] = append(plan.order[at.Partition], p)
		if p.Subject != "" && p.Event != nil && !p.IfLetter {
			s := Subject{at.Partition, p.Event.Source, p.Subject}
			plan.bySubject[s] = append(plan.bySubject[s], p)
		}
	}
	for _, list := range plan.bySubject {
		slices.SortFunc(list, func(a, b Decision) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for _, order := range plan.order {
		slices.SortFunc(order, func(a, b Decision) int {
			return cmp.Or(cmp.Compare(a.Moment, b.Moment), cmp.Compare(a.Seq, b.Seq))
		})
	}
	return plan
}

// Done is how far a projection has come when it has replayed the event.
func (p Decision) Done() position.Cursor {
	return position.Cursor{Offset: p.Moment, Replayed: p.Seq + 1}
}

// Blocking finds the first event of the subject before the offset that is yet to be tried, when a projection has come
// as far as that. Where it was tried, events between its place and that moment waited for it; those that are on no
// record still did so behind another, which failed after it.
func (p *Plan) Blocking(s Subject, offset uint64, done position.Cursor) (at position.Ref, blocked bool) {
	for _, d := range p.bySubject[s] {
		if d.Offset >= offset {
			break
		}
		if done.Before(d.Done()) {
			return d.Ref, true
		}
	}
	return position.Ref{}, false
}

// Pending returns the records of moments up to the offset that a projection, come as far as done, has not replayed.
func (p *Plan) Pending(partition string, done position.Cursor, upTo uint64) []Decision {
	order := p.order[partition]
	from, _ := slices.BinarySearchFunc(order, done, func(r Decision, at position.Cursor) int {
		if at.Before(r.Done()) {
			return 1
		}
		return -1
	})
	to := from
	for to < len(order) && order[to].Moment <= upTo {
		to++
	}
	return order[from:to]
}
