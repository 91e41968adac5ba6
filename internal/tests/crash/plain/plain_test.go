package plain_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/crash/plain"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// Line 4 waits for the branch b2, which line 9 brings; line 10 is about a card that is gone.
const events = `{"specversion":"1.0","id":"1","source":"/l","type":"OwnerNamed","time":"2024-01-01T00:00:01Z","data":{"owner":"o1","name":"first"}}
{"specversion":"1.0","id":"2","source":"/l","type":"BranchNamed","time":"2024-01-01T00:00:02Z","data":{"branch":"b1","name":"old","head":"o1"}}
{"specversion":"1.0","id":"3","source":"/l","type":"CardIssued","time":"2024-01-01T00:00:03Z","data":{"card":"c1","branch":"b1","holder":"o1","seal":"o1"}}
{"specversion":"1.0","id":"4","source":"/l","type":"CardIssued","time":"2024-01-01T00:00:04Z","data":{"card":"c2","branch":"b2","holder":"o2"}}
{"specversion":"1.0","id":"5","source":"/l","type":"HomeFormed","time":"2024-01-01T00:00:05Z","data":{"home":"h1","name":"Ax","branch":"b1","head":"o1","holders":["o1",""]}}
{"specversion":"1.0","id":"6","source":"/l","type":"BranchNamed","time":"2024-01-01T00:00:06Z","data":{"branch":"b1","name":"new"}}
{"specversion":"1.0","id":"7","source":"/l","type":"KeyGiven","time":"2024-01-01T00:00:07Z","data":{"home":"h1","number":0,"holder":"o1","maker":"b1"}}
{"specversion":"1.0","id":"8","source":"/l","type":"OwnerNamed","time":"2024-01-01T00:00:08Z","data":{"owner":"o1","name":"second"}}
{"specversion":"1.0","id":"9","source":"/l","type":"BranchNamed","time":"2024-01-01T00:00:09Z","data":{"branch":"b2","name":"late"}}
{"specversion":"1.0","id":"10","source":"/l","type":"CardUsed","time":"2024-01-01T00:00:10Z","data":{"card":"c3"}}
{"specversion":"1.0","id":"11","source":"/l","type":"CardIssued","time":"2024-01-01T00:00:11Z","data":{"card":"c3","branch":"b1"}}
{"specversion":"1.0","id":"12","source":"/l","type":"CardReturned","time":"2024-01-01T00:00:12Z","data":{"card":"c3"}}
{"specversion":"1.0","id":"13","source":"/l","type":"CardUsed","time":"2024-01-01T00:00:13Z","data":{"card":"c2"}}
{"specversion":"1.0","id":"14","source":"/l","type":"CardUsed","time":"2024-01-01T00:00:14Z","data":{"card":"c2"}}
{"specversion":"1.0","id":"15","source":"/l","type":"CardReturned","time":"2024-01-01T00:00:15Z","data":{"card":"c2"}}
{"specversion":"1.0","id":"16","source":"/l","type":"CardIssued","time":"2024-01-01T00:00:16Z","data":{"card":"c2","branch":"b1"}}
{"specversion":"1.0","id":"17","source":"/l","type":"CardUsed","time":"2024-01-01T00:00:17Z","data":{"card":"c2"}}
`

// card is c1 as it must be in the end.
func card() model.Card {
	id, head := "o1", "o1"
	owner := &model.OwnerCopy{ID: id, Name: "second"}
	return model.Card{Card: "c1", HolderID: &id, Holder: owner, BranchID: "b1", Branch: &model.BranchCopy{ID: "b1",
		Name: "new"}, IssuerID: "b1", Issuer: &model.BranchCopy{ID: "b1", Name: "old", HeadID: &head},
		SealID: &id, Seal: owner}
}

// TestAPlainFoldFindsWhatIsNotAsTheEventsSay: it agrees with what package projection makes of references, cascades, an
// aggregate and an event that waits, and notices each of them where it is spoiled.
func TestAPlainFoldFindsWhatIsNotAsTheEventsSay(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, db *querydb.DB)
		want  string // a difference by the plain fold, "" for none
	}{
		{"as it was folded", func(*testing.T, *querydb.DB) {}, ""},
		{"a copy has not followed", putCard(func(c *model.Card) { c.Holder = &model.OwnerCopy{ID: "o1", Name: "first"} }),
			"Card: the row differs from that of a plain fold"},
		{"a copy has followed that must not", putCard(func(c *model.Card) { c.Issuer = c.Branch }),
			"Card: the row differs from that of a plain fold"},
		{"a deleted row is back", putCard(func(c *model.Card) { c.Card = "c3" }),
			"Card has a row that is gone by a plain fold"},
		{"a writer's part is another", putPass, "Pass: the row differs from that of a plain fold"},
		{"a row is gone", func(t *testing.T, db *querydb.DB) {
			apply(t, db, querydb.Batch{Writes: []querydb.Write{{Model: model.CardModel, Row: querydb.Row{
				Key: keys.Key{PK: "c2"}}}}})
		}, "Card lacks a row of a plain fold"},
		{"a link is missing", dropLink, "there are -1 links too many that lead to the row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			differences := verify(t, c.spoil, nil)
			if c.want == "" && len(differences) > 0 || c.want != "" && !slices.ContainsFunc(differences,
				func(d string) bool { return strings.HasPrefix(d, c.want) }) {
				t.Errorf("differences:\n%s\nwant %q", strings.Join(differences, "\n"), c.want)
			}
		})
	}
}

// TestAnAnswerIsWhatARowWasByAPlainFold: since the checkpoint, without the copies that follow after it. A seal follows
// in the commit of its owner, and a card that waited was not there before its branch.
func TestAnAnswerIsWhatARowWasByAPlainFold(t *testing.T) {
	const issued = `{"card":"c1","holderId":"o1","branchId":"b1","issuerId":"b1","issuer":{"id":"b1","name":"old",` +
		`"headId":"o1"},"sealId":"o1","seal":{"id":"o1","name":"NAME"},"uses":0,"changed":"2024-01-01T00:00:03.000Z"}`
	first, second := strings.Replace(issued, "NAME", "first", 1), strings.Replace(issued, "NAME", "second", 1)
	waited := `{"card":"c2","holderId":"o2","branchId":"b2","issuerId":"b2","issuer":{"id":"b2","name":"late",` +
		`"headId":null},"sealId":null,"seal":null,"uses":0,"changed":"2024-01-01T00:00:04.000Z"}`
	turned := `{"id":"h1","name":"Ax","branchId":"b1","headId":"o1","safe":{"turns":1,"keys":[{"number":0,"holderId":"o1",` +
		`"makerId":"b1","maker":{"id":"b1","name":"old","headId":"o1"}},{"number":1,"holderId":null,"makerId":"b1",` +
		`"maker":{"id":"b1","name":"old","headId":"o1"}}]},"changed":"2024-01-01T00:00:07.000Z"}`
	for _, c := range []struct {
		name, model, id string
		after           uint64
		row             string
		right           bool
	}{
		{"before the owner's name changed", "Card", "c1", 7, first, true},
		{"as if the seal had not followed", "Card", "c1", 8, first, false},
		{"with the seal that followed", "Card", "c1", 8, second, true},
		{"not there yet", "Card", "c1", 2, "", true},
		{"there already", "Card", "c1", 3, "", false},
		{"waits for its branch", "Card", "c2", 8, "", true},
		{"its branch has come", "Card", "c2", 10, waited, true},
		{"an aggregate", "Home", "h1", 12, turned, true},
		{"half of an aggregate", "Home", "h1", 5, strings.Replace(turned, `"turns":1`, `"turns":0`, 1), false},
		{"gone", "Card", "c3", 12, "", true},
	} {
		a := verifier.Answer{Question: "it", Model: c.model, ID: c.id, After: c.after}
		if c.row != "" {
			a.Rows = []json.RawMessage{json.RawMessage(c.row)}
		}
		differences := verify(t, func(*testing.T, *querydb.DB) {}, []verifier.Answer{a})
		if right := len(differences) == 0; right != c.right {
			t.Errorf("%s: right %t, want %t: %q", c.name, right, c.right, differences)
		}
	}
}

// verify folds the events with package projection, spoils what that has made, and returns how the rest differs.
func verify(t *testing.T, spoil func(*testing.T, *querydb.DB), answers []verifier.Answer) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	db, err := querydb.Open(t.Context(), store, model.All, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projection.Group(ledger.Projections()) {
		runner, err := projection.NewRunner(p, source, db, projection.RunnerConfig{})
		if err == nil {
			err = runner.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	spoil(t, db)
	p := verifier.Project{Models: model.All, Projections: ledger.Projections(), Plain: &plain.Ledger}
	verdict, err := p.Verify(t.Context(), file, store, answers)
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Differences
}

// putCard writes the card with a change.
func putCard(change func(*model.Card)) func(*testing.T, *querydb.DB) {
	return func(t *testing.T, db *querydb.DB) {
		t.Helper()
		c := card()
		change(&c)
		row, err := querydb.Encode(model.CardCodec, &record.Builder{}, &c)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, db, querydb.Batch{Writes: []querydb.Write{{Model: model.CardModel, Row: row}}})
	}
}

// putPass writes what is known of the use of a card, in place of one of those that write the row.
func putPass(t *testing.T, db *querydb.DB) {
	t.Helper()
	branch, uses := "b1", 2
	p := model.Pass{Card: "c2", BranchID: &branch, Branch: &model.BranchCopy{ID: "b1", Name: "new"}, Uses: &uses}
	row, err := querydb.Encode(model.PassCodec, &record.Builder{}, &p)
	if err != nil {
		t.Fatal(err)
	}
	row.Writers = []string{"passes", "uses"}
	apply(t, db, querydb.Batch{Writes: []querydb.Write{{Model: model.PassModel, Row: row}}})
}

// dropLink takes away one of the links.
func dropLink(t *testing.T, db *querydb.DB) {
	t.Helper()
	const kind = "link:Branch.g0:" + plain.Projection
	links, err := db.Notes().List(t.Context(), kind, "", 1)
	if err != nil || len(links) == 0 {
		t.Fatalf("%d links: %v", len(links), err)
	}
	apply(t, db, querydb.Batch{Notes: []querydb.Note{{Kind: kind, ID: links[0].ID}}})
}

func apply(t *testing.T, db *querydb.DB, b querydb.Batch) {
	t.Helper()
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}
