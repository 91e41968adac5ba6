package dev

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loggedServer is a server whose log has events of some types, the first of them behind two pages.
func loggedServer(t *testing.T, types *[]string) *server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Types []string
			From  map[string]int
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/admin/events/search" {
			t.Errorf("%s: %v", r.URL, err)
		}
		page := asked.From["0"]
		events := "[]"
		if page == 2 && slices.ContainsFunc(*types, func(typ string) bool { return slices.Contains(asked.Types, typ) }) {
			events = "[{}]"
		}
		fmt.Fprintf(w, `{"events":%s,"next":{"0":%d},"upTo":{"0":3},"more":%t}`, events, page+1, page < 2)
	}))
	t.Cleanup(s.Close)
	return &server{address: strings.TrimPrefix(s.URL, "http://")}
}

const (
	lockOfA  = "# The lock.\n\ntype A {\n  id: ID!\n}\n"
	lockOfAB = lockOfA + "\ntype B {\n  id: ID!\n}\n"
	lockOfAC = lockOfA + "\ntype C {\n  id: ID!\n}\n"
)

// drafting is a session that began with A, and has added B.
func drafting(t *testing.T, begin, now string) *draft {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "events.lock")
	if err := os.WriteFile(path, []byte(begin), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := newDraft(dir, t.Logf)
	if err == nil {
		err = os.WriteFile(path, []byte(now), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.wrote = now
	return &d
}

// TestADraftIsFreeWhateverEndsItsLines: of a lock that git has written with others than are generated, the session
// knows what it has added itself.
func TestADraftIsFreeWhateverEndsItsLines(t *testing.T) {
	d := drafting(t, strings.ReplaceAll(lockOfA, "\n", "\r\n"), lockOfAB)
	if err := os.WriteFile(d.path, []byte(strings.ReplaceAll(lockOfAB, "\n", "\r\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	d.built(nil)
	if _, err := d.loosen(loggedServer(t, &[]string{"A"})); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockOfA {
		t.Errorf("the lock is %q, want %q, %v", got, lockOfA, err)
	}
}

// TestADraftIsFreeWhileNobodyCanHaveSuchEvents, and no longer.
func TestADraftIsFreeWhileNobodyCanHaveSuchEvents(t *testing.T) {
	var none, ofA, ofB = []string{}, []string{"A"}, []string{"B"}
	for name, c := range map[string]struct {
		built bool
		log   *[]string // of the server that runs; nil where none does
		flags []string
		other bool // somebody else has written the lock
		want  string
	}{
		"no program knew it":             {false, nil, nil, false, lockOfA},
		"the log has others":             {true, &ofA, nil, false, lockOfA},
		"the log has none":               {true, &none, []string{"--sample"}, false, lockOfA},
		"the log has such":               {true, &ofB, nil, false, lockOfAB},
		"the server has ended":           {true, nil, nil, false, lockOfAB},
		"others append to the source":    {true, &none, []string{"--events=nats://x/y"}, false, lockOfAB},
		"settings may name their source": {true, &none, []string{"--config", "x.yml"}, false, lockOfAB},
		"somebody else has written it":   {false, nil, nil, true, lockOfAB},
	} {
		d := drafting(t, lockOfA, lockOfAB)
		if c.built {
			d.built(nil)
		}
		if c.other {
			d.wrote = lockOfA
		}
		var srv *server
		if c.log != nil {
			srv = loggedServer(t, c.log)
			srv.flags = c.flags
		}
		restore, err := d.loosen(srv)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.read(); err != nil || got != c.want {
			t.Errorf("%s: %v, the lock is\n%s", name, err, got)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
		if got, err := d.read(); err != nil || got != lockOfAB {
			t.Errorf("%s: %v, restored, the lock is\n%s", name, err, got)
		}
	}
}

// TestACommittedEventIsNoDraft: it may be deployed, and others may have such events.
func TestACommittedEventIsNoDraft(t *testing.T) {
	d := drafting(t, lockOfA, lockOfAB)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "events"}} {
		git := exec.Command("git", append([]string{"-C", filepath.Dir(d.path)}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if _, err := d.loosen(nil); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockOfAB {
		t.Errorf("%v, the lock is\n%s", err, got)
	}
}

// TestAnEventThatCameAfterItsDraftWasTakenBackIsHeld: the server that knew it went on until the next one was built.
func TestAnEventThatCameAfterItsDraftWasTakenBackIsHeld(t *testing.T) {
	for name, held := range map[string]func(d *draft, srv *server) error{
		"with the next server":     func(d *draft, srv *server) error { return d.served(srv) },
		"with the next generation": func(d *draft, srv *server) error { _, err := d.loosen(srv); return err },
	} {
		var types []string
		srv := loggedServer(t, &types)
		d := drafting(t, lockOfA, lockOfAB)
		d.built(nil)
		if _, err := d.loosen(srv); err != nil {
			t.Fatal(err)
		}
		d.wrote = lockOfAC // B was renamed
		if err := os.WriteFile(d.path, []byte(d.wrote), 0o644); err != nil {
			t.Fatal(err)
		}
		types = []string{"B"}
		if err := held(d, srv); err != nil {
			t.Fatal(err)
		}
		if got, err := d.read(); err != nil || got != lockOfAB {
			t.Errorf("%s: %v, the lock is\n%s", name, err, got)
		}
	}
}

// TestAnEventHoldsToWhatItsServerKnewAlone, also where another program was built since, which did not start: the lock
// stays that one until the schema suits it.
func TestAnEventHoldsToWhatItsServerKnewAlone(t *testing.T) {
	const (
		served = "# The lock.\n\ntype A {\n  id: ID!\n  n: Int\n}\n"
		built  = "# The lock.\n\ntype A {\n  id: ID!\n  n: String\n}\n"
	)
	var types []string
	srv := loggedServer(t, &types)
	d := drafting(t, lockOfA, served)
	d.built(nil)
	if err := os.WriteFile(d.path, []byte(built), 0o644); err != nil {
		t.Fatal(err)
	}
	d.wrote = built
	d.built(srv)
	types = []string{"A"}
	for range 3 { // generations that the lock refuses
		restore, err := d.loosen(srv)
		if err == nil {
			err = restore()
		}
		if err != nil {
			t.Fatal(err)
		}
		if d.wrote, err = d.read(); err != nil || d.wrote != served {
			t.Fatalf("%v, the lock is\n%s", err, d.wrote)
		}
	}
}

// TestALockThatIsNotThereIsNotMade by a session whose events are wrong from the beginning.
func TestALockThatIsNotThereIsNotMade(t *testing.T) {
	d, err := newDraft(t.TempDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	restore, err := d.loosen(nil)
	if err == nil {
		err = restore()
	}
	if _, there := os.Stat(d.path); err != nil || !os.IsNotExist(there) {
		t.Errorf("%v, the lock: %v", err, there)
	}
}

// TestALockThatAnotherGenerationHasWrittenStays where the session restores what it has taken out before.
func TestALockThatAnotherGenerationHasWrittenStays(t *testing.T) {
	d := drafting(t, lockOfA, lockOfAB)
	restore, err := d.loosen(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path, []byte(lockOfAC), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockOfAC {
		t.Errorf("%v, restored, the lock is\n%s", err, got)
	}
}

// TestALockThatAnotherGenerationHasWrittenStaysWhereAnEventIsHeld: the next generation is held to what that one wrote.
func TestALockThatAnotherGenerationHasWrittenStaysWhereAnEventIsHeld(t *testing.T) {
	types := []string{"B"}
	srv := loggedServer(t, &types)
	d := drafting(t, lockOfA, lockOfA)
	d.logged.known = []string{lockOfAB}
	if err := os.WriteFile(d.path, []byte(lockOfAC), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.served(srv); err != nil {
		t.Fatal(err)
	}
	if _, err := d.loosen(srv); err != nil {
		t.Fatal(err)
	}
	if got, err := d.read(); err != nil || got != lockOfAC {
		t.Errorf("%v, the lock is\n%s", err, got)
	}
}
