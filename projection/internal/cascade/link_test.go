package cascade

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

func TestALinkLeadsToItsRowAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune{'a', 0, '1', '='}), 0, 5, -1),
			rapid.Just(strings.Repeat("x", 900)))
		draw := func() Link {
			return Link{
				Reference{text.Draw(t, "model"), text.Draw(t, "field")}, text.Draw(t, "identifier"),
				keys.Key{PK: text.Draw(t, "pk"), SK: text.Draw(t, "sk")},
			}
		}
		a, b := draw(), draw()
		n := a.Note("k")
		if key, err := ParseLink(&n); err != nil || key != a.Key {
			t.Fatalf("the link of %q leads to %q, %v", a.Key, key, err)
		}
		if (a.ID() == b.ID()) != (a == b) {
			t.Fatalf("%+v and %+v have the IDs %q and %q", a, b, a.ID(), b.ID())
		}
		same := a.Reference == b.Reference && a.Identifier == b.Identifier
		if IsLink(&n, Prefix(b.Reference, b.Identifier)) != same {
			t.Fatalf("a link of %+v is taken for one to %q of %+v", a, b.Identifier, b.Reference)
		}
	})
}

func TestATaskComesBackAsItWasRecorded(t *testing.T) {
	task := NewTask("Club", "A", keys.Key{PK: "a", SK: "s"})
	task.Reference, task.After, task.Succeeded = 1, "x", 5
	for i := range MaxFailures + 2 {
		task.Fails(Failure{Model: "Pick", Field: "club", Key: fmt.Sprint(i), Reason: "too large"})
	}
	if task.Failed != MaxFailures+2 || task.Reason != "Pick row 0: too large" || len(task.Failures) != MaxFailures {
		t.Errorf("%d have failed, %q first, %d by name", task.Failed, task.Reason, len(task.Failures))
	}
	n := task.Note("k")
	back, err := ParseTask(&querydb.Note{ID: n.ID, Value: n.Value, Revision: 7})
	if err != nil {
		t.Fatal(err)
	}
	if again := back.Progress("k"); again.Revision != 7 || string(again.Value) != string(n.Value) || again.ID != n.ID {
		t.Errorf("recorded %s, read %s at revision %d", n.Value, again.Value, again.Revision)
	}
}

// TestATaskOfAnEarlierVersionIsTakenOffUnderItsID, which told no identifiers of one key apart.
func TestATaskOfAnEarlierVersionIsTakenOffUnderItsID(t *testing.T) {
	task := NewTask("Club", "A", keys.Key{PK: "a"})
	n := task.Note("k")
	n.ID = "former"
	back, err := ParseTask(&n)
	if err != nil {
		t.Fatal(err)
	}
	again := back.Again()
	if progress := again.Progress("k"); progress.ID != n.ID || progress.Value == nil {
		t.Errorf("it goes on as %q, %q; want %q", progress.ID, progress.Value, n.ID)
	}
	again.Done = true
	if gone := again.Progress("k"); gone.ID != n.ID || gone.Value != nil {
		t.Errorf("it is taken off as %q, %q; want %q, and no value", gone.ID, gone.Value, n.ID)
	}
	other := NewTask("Club", "a", keys.Key{PK: "a"})
	if other.ID() == task.ID() {
		t.Error("the tasks of two identifiers of one key have one ID")
	}
}

// TestATaskOfAnEarlierVersionIsNotDoneTogetherWithTheOneOfItsRow: both would rest on one version of its links.
func TestATaskOfAnEarlierVersionIsNotDoneTogetherWithTheOneOfItsRow(t *testing.T) {
	q := NewTasks()
	former, now, other := NewTask("Club", "A", keys.Key{PK: "a"}), NewTask("Club", "A", keys.Key{PK: "a"}),
		NewTask("Club", "B", keys.Key{PK: "b"})
	former.id = "former"
	for _, task := range []Task{former, now, other} {
		q.Put(task)
	}
	if next := q.First(3); len(next) != 1 || next[0] != former.ID() {
		t.Errorf("next are %v, want the former task alone", next)
	}
	q.Drop(former.ID())
	if next := q.First(3); len(next) != 2 {
		t.Errorf("then next are %v, want both that are left", next)
	}
}

// TestATaskReplacesTheOneThatAnEarlierVersionHasRecorded for the same row and identifier, with the copies that it is
// about.
func TestATaskReplacesTheOneThatAnEarlierVersionHasRecorded(t *testing.T) {
	asked := Scope{Asked: true, Targets: []string{"Pick"}}
	for _, done := range []bool{false, true} {
		q := NewTasks()
		former := NewTask("Club", "A", keys.Key{PK: "a", SK: "s"})
		former.id, former.Scopes, former.Done, former.Failed = former.formerID(), []Scope{asked}, done, 1
		q.Put(former)
		got, id := q.ReplacingFormer(NewTask("Club", "A", keys.Key{PK: "a", SK: "s"}))
		if id != former.ID() || len(got.Scopes) != 2 {
			t.Errorf("done %t: it replaces %q with the scopes %+v; want %q with both scopes", done, id, got.Scopes, former.ID())
		}
		if _, id := q.ReplacingFormer(NewTask("Club", "a", keys.Key{PK: "a", SK: "s"})); id != "" {
			t.Errorf("done %t: the task of another identifier replaces %q, want none", done, id)
		}
		q.Drop(former.ID())
		if q.Len() != 0 || len(q.Failed()) != 0 {
			t.Errorf("done %t: %d tasks are left, %d failed; want none", done, q.Len(), len(q.Failed()))
		}
	}
}

// TestATaskAlsoTakesAwayWhatAPendingOneWas to take away: the row was deleted before it was made again. One that is done
// has taken that away, but for what has failed.
func TestATaskAlsoTakesAwayWhatAPendingOneWas(t *testing.T) {
	for _, pending := range []struct{ existed, done, want bool }{
		{false, false, false}, {true, false, true}, {false, true, true},
	} {
		q := NewTasks()
		was := NewTask("Club", "A", keys.Key{PK: "a"})
		was.Existed, was.Done, was.Failed = pending.existed, pending.done, 1
		q.Put(was)
		next := NewTask("Club", "A", keys.Key{PK: "a"})
		next.Existed = true
		if got := q.Widened(next); got.Existed != pending.want {
			t.Errorf("after %+v the row is said to have existed: %t", pending, got.Existed)
		}
	}
}

func TestTasksTakeTurnsAndBeginAnew(t *testing.T) {
	q := NewTasks()
	a, b := NewTask("Club", "A", keys.Key{PK: "a"}), NewTask("Club", "B", keys.Key{PK: "b"})
	q.Put(a)
	q.Put(b)
	a.After = "half"
	q.Put(a)
	q.Turn()
	first := func() Task { return q.all[q.First(1)[0]] }
	if next := first(); next.Identifier != "B" {
		t.Errorf("the next task is of %s, want B", next.Identifier)
	}
	if next := q.First(2); len(next) != 1 {
		t.Errorf("%d tasks are next, want B alone: A is begun", len(next))
	}
	q.Drop(b.ID())
	if next := first(); next.After != "half" {
		t.Errorf("the task of A goes on after %q, want after half", next.After)
	}
	a.Succeeded, a.Failed, a.Done = 4, 3, true
	q.Drop(a.ID())
	q.Put(a)
	if next := q.First(1); len(next) > 0 || len(q.Failed()) != 1 {
		t.Errorf("next are %d tasks, want none; %d have failed, want 1", len(next), len(q.Failed()))
	}
	q.RetryFailed()
	if len(q.First(2)) != 1 || len(q.Failed()) != 0 {
		t.Fatalf("retried are %d tasks, want 1; %d have failed, want none", len(q.First(2)), len(q.Failed()))
	}
	if next := first(); next.Failed != 0 || next.Succeeded != 0 || next.After != "" {
		t.Errorf("retried: %+v", next)
	}
}

func TestARetryGoesOnWhereTasksAreReadAgain(t *testing.T) {
	failed := NewTask("Club", "A", keys.Key{PK: "a"})
	failed.Failed, failed.Done, failed.revision = 1, true, 7
	for _, tt := range []struct {
		name     string
		retried  bool
		revision uint64 // as it is read again
		want     int    // tasks that go on
	}{
		{"a retry that has changed nothing yet", true, 7, 1},
		{"a retry that has failed since", true, 8, 0},
		{"no retry", false, 7, 0},
	} {
		former, again := NewTasks(), NewTasks()
		former.Put(failed)
		if tt.retried {
			former.RetryFailed()
		}
		read := failed
		read.revision = tt.revision
		again.Put(read)
		again.RetryAgain(former)
		if again.Len() != tt.want || len(again.Failed()) != 1-tt.want {
			t.Errorf("%s: %d tasks go on, want %d; %d have failed", tt.name, again.Len(), tt.want, len(again.Failed()))
		}
	}
}
