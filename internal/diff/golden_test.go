package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/schema/parse"
	"github.com/foldql/foldql/projection/rates"
)

var update = flag.Bool("update", false, "write what is said as what is wanted")

// TestCasesSayWhatIsWanted: of every folder of testdata/cases, and nothing of each schema beside itself.
func TestCasesSayWhatIsWanted(t *testing.T) {
	dirs, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			was, now := read(t, dir, "old"), read(t, dir, "new")
			r := Compare(was, now)
			if file := filepath.Join(dir, "rates.json"); exists(file) {
				measured, err := rates.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				r.Forecast(measured)
			}
			var got bytes.Buffer
			if err := r.WriteText(&got); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "want.txt")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("-want +got; go test -update writes what is said:\n%s", diff)
			}
			for _, s := range []*Schemas{was, now} {
				same := Compare(s, s)
				for _, m := range same.Models {
					if m.Start != Nothing || m.Why != nil {
						t.Errorf("beside itself, %s is said to change: %+v", m.Name, m)
					}
				}
				if len(same.API) > 0 || len(same.Events) > 0 {
					t.Errorf("beside itself, the API and the events are said to change: %+v %+v", same.API, same.Events)
				}
			}
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// TestProgramsReadTheReport: its JSON holds what it says.
func TestProgramsReadTheReport(t *testing.T) {
	r := Compare(read(t, "testdata/cases/rebuild", "old"), read(t, "testdata/cases/rebuild", "new"))
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(text.Bytes(), &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// read reads the schemas of a case: events.graphqls are those of both, unless one has events of its own, and
// events.lock is that of before.
func read(t *testing.T, dir, which string) *Schemas {
	t.Helper()
	events := filepath.Join(dir, which+".events.graphqls")
	if _, err := os.Stat(events); err != nil {
		events = filepath.Join(dir, "events.graphqls")
	}
	api := []*ast.Source{source(t, filepath.Join(dir, which+".graphqls"))}
	m, found := parse.Load(api, []*ast.Source{source(t, events)})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	lock := mark(t, m, filepath.Join(dir, eventlock.File))
	s, _, err := served.Schema(m, api)
	if err != nil {
		t.Fatal(err)
	}
	return &Schemas{s, m, lock}
}

// mark marks what events of the lock lack, as a project has it read, and returns the next lock; without the file they
// may have all.
func mark(t *testing.T, m *schema.Model, path string) *eventlock.Lock {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	lock, found := eventlock.Read(string(text))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Check(m).Err(); err != nil {
		t.Fatal(err)
	}
	next, found := eventlock.Read(lock.Next(m))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return next
}

func source(t *testing.T, path string) *ast.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &ast.Source{Name: path, Input: string(text)}
}
