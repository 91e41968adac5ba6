package cascade

import (
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
	task.Reference, task.After, task.Failed, task.Reason = 1, "x", 2, "too large"
	task.Succeeded = 5
	n := task.Note("k")
	back, err := ParseTask(&querydb.Note{Value: n.Value, Revision: 7})
	if err != nil {
		t.Fatal(err)
	}
	if again := back.Progress("k"); again.Revision != 7 || string(again.Value) != string(n.Value) || again.ID != n.ID {
		t.Errorf("recorded %s, read %s at revision %d", n.Value, again.Value, again.Revision)
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
	if first, _ := q.First(); first.Identifier != "B" {
		t.Errorf("the next task is of %s, want B", first.Identifier)
	}
	q.Drop()
	if first, _ := q.First(); first.After != "half" {
		t.Errorf("the task of A goes on after %q, want after half", first.After)
	}
	a.Succeeded, a.Failed, a.Done = 4, 3, true
	q.Drop()
	q.Put(a)
	if _, ok := q.First(); ok || len(q.Failed()) != 1 {
		t.Errorf("a task that is done is next: %t; %d have failed", ok, len(q.Failed()))
	}
	q.RetryFailed()
	first, ok := q.First()
	if !ok || first.Failed != 0 || first.Succeeded != 0 || first.After != "" || len(q.Failed()) != 0 {
		t.Errorf("retried: %+v, %t", first, ok)
	}
}
