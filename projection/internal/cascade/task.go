package cascade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Task says that the copies of a row are yet to follow it, from a link on. Another change of the row begins it anew.
type Task struct {
	Model      string `json:"model"` // of the row that is copied
	PK         string `json:"pk"`
	SK         string `json:"sk,omitempty"`
	Identifier string `json:"id"`
	// Scopes say which copies: none, those that follow by the schema.
	Scopes []Scope `json:"scopes,omitempty"`
	// Existed says that no event which copies follow has taken the row away: if it is gone by now, it has expired, or an
	// event with NoCascade has taken it away, and copies of it stay. Earlier versions did not record it, so a task without
	// it may be of a row that an event has deleted.
	Existed bool `json:"existed,omitempty"`
	// Ended is where events stand that have written the row as expired, with more of it than the end changed: as long as
	// the last event that wrote the row is one of them, it is none for copies, whatever the store has of it. Some may be
	// on record before their row is written, so there are several: see Tasks.Restated. Earlier versions did not record
	// them, and take such a row for one that is there.
	Ended []querydb.Position `json:"endings,omitempty"`
	// Reference is the number of the reference to the model whose copies are next, and After the ID of the last of its
	// links that is done.
	Reference int    `json:"reference,omitempty"`
	After     string `json:"after,omitempty"`
	// Succeeded counts the rows whose copies have followed, and Failed those that cannot hold the new copy, a row once
	// for each reference; Reason says why the first of them cannot, and Failures why the first MaxFailures. Such a task
	// stays on record when it is Done.
	Succeeded int       `json:"succeeded,omitempty"`
	Failed    int       `json:"failed,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Failures  []Failure `json:"failures,omitempty"`
	Done      bool      `json:"done,omitempty"`

	id       string // of the note
	revision uint64 // of the note
	version  uint64 // see TaskVersions
}

// MaxFailures is how many Failures a task names.
const MaxFailures = 10

// Failure is a row that cannot hold the new copy, and why.
type Failure struct {
	Model  string `json:"model"`
	Field  string `json:"field"` // that holds the copy
	Key    string `json:"key"`   // of the row, as driver.PrintableKey spells it
	Reason string `json:"reason"`
}

// Fails counts a row that cannot hold the new copy.
func (t *Task) Fails(f Failure) {
	if t.Failed++; t.Failed == 1 {
		t.Reason = fmt.Sprintf("%s row %s: %s", f.Model, f.Key, f.Reason)
	}
	if len(t.Failures) < MaxFailures {
		t.Failures = append(slices.Clip(t.Failures), f) // other states of the task have the former
	}
}

// NewTask is the task to have the copies of a row follow it that have it by the identifier: another row may be made
// under its key whose identifier differs in casing.
func NewTask(model, identifier string, key keys.Key) Task {
	return Task{
		Model: model, PK: key.PK, SK: key.SK, Identifier: identifier,
		id: digest(fmt.Sprintf("%d %d %d %s%s%s%s", len(model), len(key.PK), len(key.SK), model, key.PK, key.SK, identifier)),
	}
}

// ID is that of the note. One that an earlier version has recorded may have another than NewTask gives.
func (t *Task) ID() string { return t.id }

// formerID is the ID under which earlier versions recorded tasks, which told no identifiers of one key apart.
func (t *Task) formerID() string {
	return digest(fmt.Sprintf("%d %d %s%s%s", len(t.Model), len(t.PK), t.Model, t.PK, t.SK))
}

// Note puts the task on record, wherever another of its row and identifier stands.
func (t *Task) Note(kind string) querydb.Note {
	return querydb.Note{Kind: kind, ID: t.ID(), Value: encode(t)}
}

// Progress replaces the task that was read by its present state, or takes it off where it is over. Where it has changed
// since, by another process or by another change of the row, nothing of the batch takes effect; where it may be another
// by now, TaskVersions see to that.
func (t *Task) Progress(kind string) querydb.Note {
	n := t.Note(kind)
	if t.isOver() {
		n.Value = nil
	}
	n.IfRevision, n.Revision = true, t.revision
	return n
}

// Restatement replaces the task that was read by one that is Restated. Where it has changed since, nothing of the batch
// takes effect.
func (t *Task) Restatement(kind string) querydb.Note {
	n := t.Note(kind)
	n.IfRevision, n.Revision = true, t.revision
	return n
}

// isOver reports whether the task is done and left no copies behind: nothing of it stays on record.
func (t *Task) isOver() bool { return t.Done && t.Failed == 0 }

// ParseTask reads the note of a task.
func ParseTask(n *querydb.Note) (t Task, err error) {
	err = json.Unmarshal(n.Value, &t)
	t.id, t.revision = n.ID, n.Revision
	return t, err
}

// Again is the task from its beginning.
func (t *Task) Again() Task {
	again := NewTask(t.Model, t.Identifier, keys.Key{PK: t.PK, SK: t.SK})
	again.Scopes, again.Existed, again.Ended = t.Scopes, t.Existed, t.Ended
	again.id, again.revision, again.version = t.id, t.revision, t.version
	return again
}

// Tasks are those that are to be done, in the order in which they were begun or read.
type Tasks struct {
	queue  []string // IDs
	all    map[string]Task
	failed map[string]Task
}

// NewTasks makes an empty queue.
func NewTasks() *Tasks { return &Tasks{all: map[string]Task{}, failed: map[string]Task{}} }

// Put adds a task, or replaces what is known of it. One that is done is only kept among those that failed.
func (q *Tasks) Put(t Task) {
	id := t.ID()
	delete(q.failed, id)
	if t.Done {
		q.failed[id] = t
		return
	}
	if _, known := q.all[id]; !known {
		q.queue = append(q.queue, id)
	}
	q.all[id] = t
}

// Widened is a new task that also has those copies follow which an unfinished one of its row is about.
func (q *Tasks) Widened(t Task) Task {
	if pending, there := q.find(t.ID()); there {
		t.widen(&pending)
	}
	return t
}

// widen has the task do what a pending one is yet to do too, which may be to take away copies of a row that was deleted
// in between.
func (t *Task) widen(pending *Task) {
	t.Existed = t.Existed && (pending.Existed || pending.Done)
	t.Scopes = ForTask(Union(orSchema(pending.Scopes), orSchema(t.Scopes)))
}

// IsNone reports whether the row is none for copies as the event at that position has left it.
func (t *Task) IsNone(written querydb.Position) bool {
	return slices.Contains(t.Ended, written)
}

// Restated is the unfinished task of the row of a new one, or one that has failed, for which that row is none as an
// event has written it that no copy follows. It is false where there is none. What the task knows of earlier events
// stays, but of those that the row has passed: it may go on record several times before the row is written, of one
// event or of others, and the row may never be written so.
func (q *Tasks) Restated(t Task, passed func(querydb.Position) bool) (restated Task, pending bool) {
	restated, pending = q.find(t.ID())
	ended := slices.Clone(t.Ended)
	for _, p := range restated.Ended {
		if !passed(p) && !slices.Contains(ended, p) {
			ended = append(ended, p)
		}
	}
	restated.Ended = ended
	return restated, pending
}

// Pends reports whether the task of the ID is yet to be done.
func (q *Tasks) Pends(id string) bool {
	_, there := q.all[id]
	return there
}

// ReplacingFormer is a new task that also has those copies follow which one is about that an earlier version recorded
// for the same row and identifier, and the ID of that one, "" where there is none.
func (q *Tasks) ReplacingFormer(t Task) (wider Task, former string) {
	former = t.formerID()
	pending, there := q.find(former)
	if !there || pending.Identifier != t.Identifier {
		return t, ""
	}
	t.widen(&pending)
	return t, former
}

func (q *Tasks) find(id string) (t Task, there bool) {
	if t, there = q.all[id]; !there {
		t, there = q.failed[id]
	}
	return t, there
}

// First are the IDs of the tasks that are next, so many of them at most. One that is begun is alone: it has many
// copies. Two of one row, of which an earlier version has recorded the first, are not done together.
func (q *Tasks) First(most int) []string {
	next := q.queue[:min(most, len(q.queue))]
	if at := slices.IndexFunc(next, func(id string) bool { return q.all[id].After != "" }); at >= 0 {
		next = next[:max(at, 1)]
	}
	type source struct{ model, identifier string }
	of := make(map[source]bool, len(next))
	for i, id := range next {
		s := source{q.all[id].Model, q.all[id].Identifier}
		if of[s] {
			next = next[:i]
			break
		}
		of[s] = true
	}
	return slices.Clone(next)
}

// Turn puts the first task last, so that a long one does not hold up the others.
func (q *Tasks) Turn() { q.queue = append(q.queue[1:], q.queue[0]) }

// Drop removes tasks: most are among the first, or have failed.
func (q *Tasks) Drop(ids ...string) {
	for _, id := range ids {
		delete(q.all, id)
		delete(q.failed, id)
	}
	gone := 0
	q.queue = slices.DeleteFunc(q.queue, func(id string) bool {
		if gone == len(ids) { // those behind stay
			return false
		}
		_, stays := q.all[id]
		if !stays {
			gone++
		}
		return !stays
	})
}

// Failed are the tasks that left some copies behind.
func (q *Tasks) Failed() []Task {
	return slices.SortedFunc(maps.Values(q.failed), func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Identifier, b.Identifier))
	})
}

// RetryFailed begins those again.
func (q *Tasks) RetryFailed() {
	for _, t := range q.Failed() {
		q.Put(t.Again())
	}
}

// RetryAgain begins those again that former, which were read before these, had begun again: that is not on record.
func (q *Tasks) RetryAgain(former *Tasks) {
	for _, t := range q.Failed() {
		if before, begun := former.all[t.ID()]; begun && before.revision == t.revision {
			q.Put(t.Again())
		}
	}
}

// Len is how many tasks there are.
func (q *Tasks) Len() int { return len(q.queue) }
