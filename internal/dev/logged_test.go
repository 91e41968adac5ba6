package dev

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// others has others write the lock.
func (d *draft) others(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(d.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generates has the session generate a lock, while a server runs, and returns what there is then.
func (d *draft) generates(t *testing.T, srv *server, text string) (lock string) {
	t.Helper()
	if _, err := d.loosen(srv); err != nil {
		t.Fatal(err)
	}
	d.others(t, text)
	d.left()
	if err := d.regain(srv); err != nil {
		t.Fatal(err)
	}
	return d.has(t)
}

// has is the lock as it is.
func (d *draft) has(t *testing.T) string {
	t.Helper()
	text, err := d.read()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// said is what a draft says from now on.
func (d *draft) said() *strings.Builder {
	var said strings.Builder
	d.say = func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	return &said
}

const lockOfAOtherB = lockOfA + "\ntype B {\n  id: ID!\n  n: Int\n}\n"

// TestALoggedDraftThatGitTakesBackIsHeldWhenItIsDeclaredAgain: the lock stays as git has made it until then, so that
// git can give back what it has put away.
func TestALoggedDraftThatGitTakesBackIsHeldWhenItIsDeclaredAgain(t *testing.T) {
	srv := (&fakeLog{"x", []string{"B"}}).serve(t)
	d := drafting(t, lockOfA, lockOfAB)
	d.built(srv)
	d.others(t, lockOfA)
	said := d.said()
	if got := d.generates(t, srv, lockOfA); got != lockOfA { // the schema was put away too
		t.Fatalf("the lock is\n%s", got)
	}
	d.built(srv)
	if err := d.served(srv); err != nil {
		t.Fatal(err)
	}
	if got := d.has(t); got != lockOfA || said.Len() > 0 {
		t.Fatalf("%s, the lock is\n%s", said, got)
	}
	if got := d.generates(t, srv, lockOfAOtherB); got != lockOfAB || !strings.Contains(said.String(), "events of B") {
		t.Errorf("%s, the lock is\n%s", said, got)
	}
	if _, err := d.loosen(srv); err != nil || d.has(t) != lockOfAB {
		t.Errorf("%v, the lock is\n%s", err, d.has(t))
	}
}

// TestADraftThatGitPutsAwayAndGivesBackIsFree, as by git stash, where the log has none of it.
func TestADraftThatGitPutsAwayAndGivesBackIsFree(t *testing.T) {
	srv := (&fakeLog{"x", []string{"A"}}).serve(t)
	d := drafting(t, lockOfA, lockOfA)
	d.generates(t, srv, lockOfAB)
	d.built(srv)
	d.others(t, lockOfA)
	d.generates(t, srv, lockOfA)
	d.built(srv)
	if err := d.served(srv); err != nil {
		t.Fatal(err)
	}
	d.others(t, lockOfAB)
	if got := d.generates(t, srv, lockOfAOtherB); got != lockOfAOtherB || d.base != lockOfA {
		t.Errorf("changes are held to\n%s, the lock is\n%s", d.base, got)
	}
}

// TestALockThatGitTakesBackWhileCodeIsGeneratedInVainStaysSo: it is no text that the session has left.
func TestALockThatGitTakesBackWhileCodeIsGeneratedInVainStaysSo(t *testing.T) {
	d := drafting(t, lockOfAB, lockOfAB)
	restore, err := d.loosen(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.others(t, lockOfA)
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if got := d.generates(t, nil, lockOfA); got != lockOfA || d.base != lockOfA {
		t.Errorf("changes are held to\n%s, the lock is\n%s", d.base, got)
	}
}

// TestALockThatIsWrittenByHandCounts, and where the log has events that are not as it says, that is told.
func TestALockThatIsWrittenByHandCounts(t *testing.T) {
	for name, c := range map[string]struct {
		types []string
		told  bool
	}{"the log has such": {[]string{"A", "B"}, true}, "the log has others": {[]string{"A"}, false}} {
		srv := (&fakeLog{"x", c.types}).serve(t)
		d := drafting(t, lockOfA, lockOfAB)
		d.built(nil)
		d.others(t, lockOfAC)
		said := d.said()
		if _, err := d.loosen(srv); err != nil {
			t.Fatal(err)
		}
		if got := d.has(t); got != lockOfAC || !strings.Contains(said.String(), "by hand") ||
			strings.Contains(said.String(), "events of B") != c.told {
			t.Errorf("%s: %s, the lock is\n%s", name, said, got)
		}
	}
}

// TestWhatIsAddedToACommittedDraftIsFree: a commit of a part of the lock holds that part alone.
func TestWhatIsAddedToACommittedDraftIsFree(t *testing.T) {
	srv := (&fakeLog{"x", nil}).serve(t)
	d := drafting(t, lockOfA, lockOfA)
	d.generates(t, srv, lockOfAB)
	d.generates(t, srv, lockOfAB+"\ntype C {\n  id: ID!\n}\n")
	d.follow(srv, d.has(t), lockOfAB)
	if _, err := d.loosen(srv); err != nil || d.has(t) != lockOfAB {
		t.Errorf("%v, the lock is\n%s", err, d.has(t))
	}
}

// TestWhatALogHasIsNotHeldAgainstAnother: where the next server has another store, the lock keeps what the log of the
// former one has, and the other log is asked for what it has itself.
func TestWhatALogHasIsNotHeldAgainstAnother(t *testing.T) {
	for name, c := range map[string]struct {
		former []string // events of its log; none where no server runs
		dead   bool
		base   string
	}{
		"the former log has such":   {[]string{"B"}, false, lockOfAB},
		"the former log has others": {[]string{"A"}, false, lockOfA},
		"the former log is unknown": {nil, true, lockOfAB},
	} {
		former := (&fakeLog{"x", c.former}).serve(t)
		former.flags, former.lock = []string{"--store=embedded:one"}, lockOfAB
		d := drafting(t, lockOfA, lockOfAB)
		if err := d.moves(nil, former.flags); err != nil {
			t.Fatal(err)
		}
		d.built(nil)
		if c.dead {
			former = nil
		}
		next := (&fakeLog{"y", []string{"A", "A"}}).serve(t)
		next.flags = []string{"--store=embedded:two"}
		if err := d.moves(former, next.flags); err != nil {
			t.Fatal(err)
		}
		d.started(next)
		if err := d.served(next); err != nil {
			t.Fatal(err)
		}
		if d.base != c.base || d.has(t) != lockOfAB {
			t.Errorf("%s: changes are held to\n%s, the lock is\n%s", name, d.base, d.has(t))
		}
		if former == nil || c.base == lockOfAB {
			continue
		}
		if _, err := d.loosen(next); err != nil || d.has(t) != lockOfA {
			t.Errorf("%s: %v, with the other log, the lock is\n%s", name, err, d.has(t))
		}
	}
}

// TestAServerThatReturnsToItsLogIsAskedAsBefore, where the next one, of another log, did not start.
func TestAServerThatReturnsToItsLogIsAskedAsBefore(t *testing.T) {
	log := &fakeLog{"x", nil}
	former := log.serve(t)
	former.flags, former.lock = []string{"--store=embedded:one"}, lockOfAB
	d := drafting(t, lockOfA, lockOfAB)
	if err := d.moves(nil, former.flags); err != nil {
		t.Fatal(err)
	}
	d.built(nil)
	d.generates(t, former, lockOfAC)
	d.built(former)
	if err := d.moves(former, []string{"--store=embedded:two"}); err != nil {
		t.Fatal(err)
	}
	d.returns(former)
	log.types = []string{"B"}
	if _, err := d.loosen(former); err != nil || d.has(t) != lockOfAB {
		t.Errorf("%v, the lock is\n%s", err, d.has(t))
	}
}

// TestAServerThatStartsForLongIsAskedWhenItIsOpen, and holds nothing before: a draft is free while it starts.
func TestAServerThatStartsForLongIsAskedWhenItIsOpen(t *testing.T) {
	opened := make(chan struct{})
	log := (&fakeLog{"x", []string{"A"}}).handler(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-opened:
			log.ServeHTTP(w, r)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"why":"starting"}`)
		}
	}))
	t.Cleanup(s.Close)
	srv := &server{address: strings.TrimPrefix(s.URL, "http://"), done: make(chan struct{})}
	d := drafting(t, lockOfA, lockOfAB)
	d.built(nil)
	if err := srv.up(t.Context(), time.Nanosecond); err != nil || !srv.opening() {
		t.Fatalf("%v, opening: %t", err, srv.opening())
	}
	if got := d.generates(t, srv, lockOfAC); got != lockOfAC || d.base != lockOfA {
		t.Fatalf("while it starts, changes are held to\n%s, the lock is\n%s", d.base, got)
	}
	close(opened)
	<-srv.opened()
	srv.opens = nil
	if err := d.served(srv); err != nil || d.has(t) != lockOfAC || d.base != lockOfA {
		t.Errorf("%v, changes are held to\n%s, the lock is\n%s", err, d.base, d.has(t))
	}
}

// TestALockAmidAMergeChangesNothingOfWhatIsKnown: the one that it becomes counts, by hand or by a commit.
func TestALockAmidAMergeChangesNothingOfWhatIsKnown(t *testing.T) {
	conflict := strings.Replace(lockOfAB, "  id: ID!\n", "<<<<<<< ours\n  id: ID!\n=======\n  id: ID\n>>>>>>> theirs\n", 1)
	for _, committed := range []bool{false, true} {
		srv := (&fakeLog{"x", []string{"B"}}).serve(t)
		d := drafting(t, lockOfA, lockOfAB)
		d.built(srv)
		d.others(t, conflict)
		if _, err := d.loosen(srv); err == nil || !strings.Contains(err.Error(), "events.lock:") {
			t.Fatalf("the lock amid a merge: %v", err)
		}
		if got := d.has(t); got != conflict {
			t.Fatalf("the lock is\n%s", got)
		}
		d.others(t, lockOfA)
		if committed {
			d.committed = lockOfA
		}
		d.follow(srv, lockOfA, d.committed)
		said := d.said()
		if got := d.generates(t, srv, lockOfAOtherB); got != lockOfAB || !strings.Contains(said.String(), "events of B") {
			t.Errorf("committed %t: %s, the lock is\n%s", committed, said, got)
		}
	}
}
