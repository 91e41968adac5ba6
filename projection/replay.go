package projection

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/foldql/foldql/querydb"
)

// replay records what was decided about an event that had been set aside, so that a fold of the whole log does the
// same at the same place. Such records outlive a restart of the projection.
type replay struct {
	ref `json:"-"`
	// Skip: the event never takes effect. Else it does at Moment, the offset of the event after which it did, as the
	// Seq-th of that moment, counted from 0.
	Skip   bool   `json:"skip,omitempty"`
	Moment uint64 `json:"moment,omitempty"`
	Seq    int    `json:"seq,omitempty"`
	// Generation is that of the rows in which the decision took effect; a fold into a later one does the same.
	Generation int `json:"generation"`
	// Event is what the decision is about, and After the event at Moment; nil where they could not be read.
	Event *anchor `json:"event,omitempty"`
	After *anchor `json:"after,omitempty"`
}

func (p replay) note(projection string) querydb.Note {
	return querydb.Note{Kind: kindDecision + projection, ID: p.ref.id(), Value: encode(p)}
}

func parseReplay(n querydb.Note) (replay, error) {
	var p replay
	if err := json.Unmarshal(n.Value, &p); err != nil {
		return p, err
	}
	var err error
	p.ref, err = parseRef(n.ID)
	return p, err
}

// replayPlan is all records of a projection, ready for its reader.
type replayPlan struct {
	moved map[ref]bool        // events that have no effect at their own place
	order map[string][]replay // by partition, in the order of their moments
}

func planReplays(records map[ref]replay) *replayPlan {
	plan := &replayPlan{moved: map[ref]bool{}, order: map[string][]replay{}}
	for at, p := range records {
		plan.moved[at] = true
		if !p.Skip {
			plan.order[at.partition] = append(plan.order[at.partition], p)
		}
	}
	for _, order := range plan.order {
		slices.SortFunc(order, func(a, b replay) int {
			return cmp.Or(cmp.Compare(a.Moment, b.Moment), cmp.Compare(a.Seq, b.Seq))
		})
	}
	return plan
}

// done is how far a projection has come when it has replayed the event.
func (p replay) done() cursor { return cursor{Offset: p.Moment, Replayed: p.Seq + 1} }

// pending returns the records of moments up to the offset that a projection, come as far as done, has not replayed.
func (p *replayPlan) pending(partition string, done cursor, upTo uint64) []replay {
	order := p.order[partition]
	from, _ := slices.BinarySearchFunc(order, done, func(r replay, at cursor) int {
		if at.before(r.done()) {
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
