package projectiontest

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/foldql/foldql/querydb"
)

// samples are events in the order of the log, each as it is in each of its versions.
type samples [][]Event

var samplePattern = regexp.MustCompile(`^([0-9]+)-([_A-Za-z][_0-9A-Za-z]*)\.v([0-9]+)\.json$`)

// readSamples reads the samples of a folder. While they are checked, their IDs are the names of their files.
func readSamples(dir fs.FS) (samples, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	type numbered struct {
		number int
		Event
	}
	var files []numbered
	for _, e := range entries {
		parts := samplePattern.FindStringSubmatch(e.Name())
		if parts == nil {
			return nil, fmt.Errorf("sample %s: call it NUMBER-TYPE.vVERSION.json, as 1-OrderPlaced.v1.json", e.Name())
		}
		text, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the samples: %w", err)
		}
		n, err := number(parts[1])
		version, wrong := number(parts[3])
		if err = cmp.Or(err, wrong); err != nil {
			return nil, fmt.Errorf("sample %s: %w", e.Name(), err)
		}
		files = append(files, numbered{n, Event{ID: e.Name(), Type: parts[2], Version: version, Data: text}})
	}
	slices.SortStableFunc(files, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.Version, b.Version))
	})
	var all samples
	for i, f := range files {
		if i == 0 || files[i-1].number != f.number {
			all = append(all, nil)
		}
		at := &all[len(all)-1]
		if *at = append(*at, f.Event); f.Version != len(*at) {
			return nil, fmt.Errorf("sample %s: the next version of this event is %d", f.ID, len(*at))
		}
	}
	return all, nil
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is too large a number", text)
	}
	return n, nil
}

// storedRows are rows of a model as they are stored, of which nothing is known but the model.
type storedRows struct{ of *querydb.Model }

// storedRow holds, by field, what is stored of a row.
type storedRow map[string]storedValue

func (r storedRow) String() string {
	fields := slices.Sorted(maps.Keys(r))
	return "{" + joined(len(fields), func(i int) string { return fields[i] + ": " + r[fields[i]].text }) + "}"
}

// storedValue is JSON.
type storedValue struct{ text string }

func (v storedValue) String() string { return v.text }

// Equal reports whether values are equal, as package cmp asks it.
func (v storedValue) Equal(o storedValue) bool { return v.text == o.text }

func (r storedRows) model() *querydb.Model { return r.of }

func (r storedRows) want() []any { return nil }

func (r storedRows) decode(stored *querydb.Row) (any, error) {
	rec, row := stored.Record, storedRow{}
	for i, f := range r.of.Fields {
		if i < rec.Len() {
			row[f.Name] = storedValue{string(rec.JSON(i))}
		}
	}
	return row, nil
}

func (r storedRows) name(row any) string {
	text := r.of.Name
	for _, half := range []querydb.Half{r.of.PK, r.of.SK} {
		for _, f := range half.Fields {
			name := r.of.Fields[f].Name
			text += fmt.Sprintf(" %s: %s", name, row.(storedRow)[name].text)
		}
	}
	return text
}
