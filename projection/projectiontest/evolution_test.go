package projectiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// What follows is what the generator makes of two events, Deposited and Withdrawn, that each have three versions: in
// the first the amount is a text, in the second a number of cents, in the third it has a name of its own.

// ofVersion reads data of one version.
func ofVersion(version int, data []byte) (d Deposited, err error) {
	var text struct {
		Owner  string
		Amount *string
		Cents  *int
	}
	if version == 3 {
		err = json.Unmarshal(data, &d)
		if err == nil && d.Owner == "" {
			err = &eventlog.FieldError{Field: "owner", Reason: "required"}
		}
		return d, err
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return d, &eventlog.FieldError{Reason: err.Error()}
	}
	switch {
	case version == 1 && text.Amount != nil:
		_, err = fmt.Sscanf(*text.Amount, "%d cents", &d.Amount)
	case version == 2 && text.Cents != nil:
		d.Amount = *text.Cents
	default:
		err = &eventlog.FieldError{Field: "amount", Reason: "required"}
	}
	d.Owner = text.Owner
	return d, err
}

var versionedTypes = func() eventlog.Types {
	check := func(version int) func([]byte) ([]string, error) {
		return func(b []byte) ([]string, error) { _, err := ofVersion(version, b); return nil, err }
	}
	of := func(name string) *eventlog.Type {
		return &eventlog.Type{Name: name, Check: check(3), Former: []func([]byte) ([]string, error){check(1), check(2)}}
	}
	return eventlog.Types{"Deposited": of("Deposited"), "Paid": of("Deposited"), "Withdrawn": of("Withdrawn")}
}()

// upcasting is the projection of both events, with upcasters that may be wrong.
func upcasting(wrong func(version int, d *Deposited) error) projection.Projection {
	return projection.New(accounts, projection.Projection{
		Name: "Account", Events: []string{"Deposited", "Paid", "Withdrawn"},
		Versions: map[string]int{"Deposited": 3, "Paid": 3, "Withdrawn": 3},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			version, err := e.DataVersion()
			if err != nil {
				return nil, err
			}
			d, err := ofVersion(version, e.Data)
			if err == nil {
				err = wrong(version, &d)
			}
			if err != nil {
				return nil, err
			}
			if e.Type == "Withdrawn" {
				d.Amount = -d.Amount
			}
			return []projection.Op{accounts.Upsert(d.Owner, Account{}, func(a *Account) { a.Balance += d.Amount })}, nil
		},
	})
}

func right(int, *Deposited) error { return nil }

// folder are files by name.
func folder(files map[string]string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return dir
}

// threeVersions are samples of both events, each in three versions; the first had another name.
func threeVersions() map[string]string {
	return map[string]string{
		"1-Paid.v1.json":       `{"owner": "ada", "amount": "500 cents"}`,
		"1-Deposited.v2.json":  `{"owner": "ada", "cents": 500}`,
		"1-Deposited.v3.json":  `{"owner": "ada", "amount": 500}`,
		"2-Withdrawn.v1.json":  `{"owner": "ada", "amount": "20 cents"}`,
		"2-Withdrawn.v2.json":  `{"owner": "ada", "cents": 20}`,
		"2-Withdrawn.v3.json":  `{"owner": "ada", "amount": 20}`,
		"10-Deposited.v1.json": `{"owner": "bob", "amount": "7 cents"}`,
		"10-Deposited.v2.json": `{"owner": "bob", "cents": 7}`,
		"10-Deposited.v3.json": `{"owner": "bob", "amount": 7}`,
	}
}

// TestALogOfThreeVersionsOfEachEventGivesTheRowsOfTheLast.
func TestALogOfThreeVersionsOfEachEventGivesTheRowsOfTheLast(t *testing.T) {
	RunEvolution(t, Evolution{
		Projections: []projection.Projection{upcasting(right)}, Types: versionedTypes, Samples: folder(threeVersions()),
	})
}

// TestUpcastersThatAreWrongAreFound, in whichever version, and alone among others.
func TestUpcastersThatAreWrongAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong func(version int, d *Deposited) error
		want  []string
	}{
		"another value of version 1": {
			func(version int, d *Deposited) error {
				if version == 1 {
					d.Amount *= 100
				}
				return nil
			},
			[]string{"version 1", `Account owner: "ada": balance: of last versions 480, now `},
		},
		"another key of version 2": {
			func(version int, d *Deposited) error {
				if version == 2 {
					d.Owner = "the " + d.Owner
				}
				return nil
			},
			[]string{"of version 2", `Account owner: "the ada": of last versions nothing, now {balance: 480, owner: "the ada"}`},
		},
		"an error of version 2": {
			func(version int, d *Deposited) error {
				if version == 2 && d.Owner == "bob" {
					return errors.New("no such owner")
				}
				return nil
			},
			[]string{"event 3 (Deposited of version 2) is a dead letter: no such owner"},
		},
		"an error of the last": {
			func(version int, d *Deposited) error {
				if version == 3 {
					return errors.New("no such owner")
				}
				return nil
			},
			[]string{"of the last version", "event 1 (Deposited of version 3) is a dead letter: no such owner"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := Evolution{
				Projections: []projection.Projection{upcasting(tt.wrong)}, Types: versionedTypes, Samples: folder(threeVersions()),
			}
			err := e.check(t.Context())
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
}

// TestSamplesThatShowLessAreFound.
func TestSamplesThatShowLessAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(files map[string]string)
		want   string
	}{
		"a version is missing": {
			func(f map[string]string) { delete(f, "2-Withdrawn.v3.json") }, "Withdrawn has 3: add it in all of them",
		},
		"a version between is missing": {
			func(f map[string]string) { delete(f, "2-Withdrawn.v2.json") }, "the next version of this event is 2",
		},
		"an event is missing": {
			func(f map[string]string) {
				for n := range 3 {
					delete(f, fmt.Sprintf("2-Withdrawn.v%d.json", n+1))
				}
			},
			"there is no sample of Withdrawn, which has 3 versions",
		},
		"a sample is of another version": {
			func(f map[string]string) { f["1-Paid.v1.json"] = f["1-Deposited.v3.json"] }, "sample 1-Paid.v1.json: ",
		},
		"a sample does not fit": {
			func(f map[string]string) { f["1-Deposited.v2.json"] = "{}" }, "sample 1-Deposited.v2.json: field amount: required",
		},
		"a version is not known": {
			func(f map[string]string) { f["2-Withdrawn.v4.json"] = "{}" }, "this program knows Withdrawn up to version 3",
		},
		"a type is not declared": {
			func(f map[string]string) { f["3-Lost.v1.json"] = "{}" }, "no event Lost is in use",
		},
		"a number has two events": {
			func(f map[string]string) {
				f["1-Withdrawn.v2.json"] = f["1-Deposited.v2.json"]
				delete(f, "1-Deposited.v2.json")
			},
			"sample 1-Withdrawn.v2.json is of an event Withdrawn, and other files of its number are of Deposited",
		},
		"a name is none": {func(f map[string]string) { f["README"] = "" },
			"sample README: call it NUMBER-TYPE.vVERSION.json"},
	} {
		t.Run(name, func(t *testing.T) {
			files := threeVersions()
			tt.change(files)
			e := Evolution{
				Projections: []projection.Projection{upcasting(right)}, Types: versionedTypes, Samples: folder(files),
			}
			if err := e.check(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	e := Evolution{Types: versionedTypes, Samples: folder(threeVersions())}
	if err := e.check(t.Context()); err == nil || !strings.Contains(err.Error(), "no row") {
		t.Errorf("without a projection: %v", err)
	}
}
