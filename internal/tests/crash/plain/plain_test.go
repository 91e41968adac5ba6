package plain_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// Line 4 waits for the branch b2, which line 9 brings; line 10 is about a card that is gone; line 30 reads twice at one
// time.
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
{"specversion":"1.0","id":"18","source":"/l","type":"TariffSet","time":"2024-01-01T00:00:18Z","data":{"tariff":"r1","price":1,"quiet":false}}
{"specversion":"1.0","id":"19","source":"/l","type":"PlanTaken","time":"2024-01-01T00:00:19Z","data":{"plan":"p1","name":"By","tariff":"r1","spare":"r1"}}
{"specversion":"1.0","id":"20","source":"/l","type":"PlanTaken","time":"2024-01-01T00:00:20Z","data":{"plan":"p2","name":"Ax","tariff":"r1"}}
{"specversion":"1.0","id":"21","source":"/l","type":"TariffCorrected","time":"2024-01-01T00:00:21Z","data":{"tariff":"r1","price":2,"targets":["Plan"],"name":"By","later":false}}
{"specversion":"1.0","id":"22","source":"/l","type":"TariffSet","time":"2024-01-01T00:00:22Z","data":{"tariff":"r1","price":3,"quiet":true}}
{"specversion":"1.0","id":"23","source":"/l","type":"BoxFilled","time":"2024-01-01T00:00:23Z","data":{"home":"h1","upper":true,"tariff":"r1","keeper":"o2","papers":["will"]}}
{"specversion":"1.0","id":"24","source":"/l","type":"OwnerNamed","time":"2024-01-01T00:00:24Z","data":{"owner":"o2","name":"two"}}
{"specversion":"1.0","id":"25","source":"/l","type":"BoxShared","time":"2024-01-01T00:00:25Z","data":{"home":"h1","upper":true,"sponsors":["b1","b2"]}}
{"specversion":"1.0","id":"26","source":"/l","type":"HomeRenamed","time":"2024-01-01T00:00:26Z","data":{"home":"h1","name":"Cz"}}
{"specversion":"1.0","id":"27","source":"/l","type":"TerminalGiven","time":"2024-01-01T00:00:27Z","data":{"terminal":"t1","keeper":"o2"}}
{"specversion":"1.0","id":"28","source":"/l","type":"TerminalRead","time":"2024-01-01T00:00:28Z","data":{"terminal":"t1","channel":1,"at":"2024-01-01T10:00:00Z","reading":1}}
{"specversion":"1.0","id":"29","source":"/l","type":"TerminalRead","time":"2024-01-01T00:00:29Z","data":{"terminal":"t1","channel":1,"at":"2024-01-01T09:00:00Z","again":"2024-01-01T10:00:00Z","reading":2}}
{"specversion":"1.0","id":"30","source":"/l","type":"TerminalRead","time":"2024-01-01T00:00:30Z","data":{"terminal":"t1","channel":1,"at":"2024-01-01T11:00:00Z","again":"2024-01-01T11:00:00Z","reading":3}}
{"specversion":"1.0","id":"31","source":"/l","type":"OwnerNamed","time":"2024-01-01T00:00:31Z","data":{"owner":"o2","name":"deux"}}
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
// aggregate, a time series and an event that waits, and notices each of them where it is spoiled.
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
		{"a copy has followed that was not asked to", put(model.PlanCodec, model.Plan{Plan: "p2", Name: "Ax", TariffID: "r1",
			Tariff: &model.TariffCopy{ID: "r1", Price: 2}}), "Plan: the row differs from that of a plain fold"},
		{"a newest reading is not the newest", putTerminal, "Terminal: the row differs from that of a plain fold"},
		{"a reading is there that is none", put(model.TerminalEventCodec, model.TerminalEvent{Terminal: "t1",
			EventPartition: "0", EventOffset: 30}), "TerminalEvent by a plain fold: the history differs"},
		{"an item lies elsewhere in the local index", moveItem, "Homes: an item"},
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
	const priced = `{"plan":"p1","name":"By","tariffId":"r1","tariff":{"id":"r1","price":2},"spareId":"r1",` +
		`"spare":{"id":"r1","price":PRICE},"changed":"2024-01-01T00:00:19.000Z"}`
	boxed := strings.NewReplacer(`}]},"ch`, `}],"upper":{"tariffId":"r1","tariff":{"id":"r1","price":3},"keeperId":"o2",`+
		`"keeper":{"id":"o2","name":"two"},"papers":[{"number":0,"name":"will"}]}},"ch`, "00:07", "00:23").Replace(turned)
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
		{"a copy that was asked to follow", "Plan", "p1", 21, strings.Replace(priced, "PRICE", "2", 1), true},
		{"a copy that followed quietly", "Plan", "p1", 22, strings.Replace(priced, "PRICE", "3", 1), false},
		{"a part of a part", "Home", "h1", 24, boxed, true},
		{"a keeper that has not followed", "Home", "h1", 24, strings.Replace(boxed, "two", "old", 1), false},
	} {
		a := verifier.Answer{Question: "it", Model: c.model, ID: c.id, After: c.after, OneMoment: true}
		if c.row != "" {
			a.Rows = []json.RawMessage{json.RawMessage(c.row)}
		}
		differences := verify(t, func(*testing.T, *querydb.DB) {}, []verifier.Answer{a})
		if right := len(differences) == 0; right != c.right {
			t.Errorf("%s: right %t, want %t: %q", c.name, right, c.right, differences)
		}
	}
}

// TestAnAnswerIsWhatAHistoryWas: at one moment since the checkpoint or, where the store reads a page piece by piece,
// with all that was there throughout, and nothing that was never there.
func TestAnAnswerIsWhatAHistoryWas(t *testing.T) {
	const (
		one    = `{"terminal":"t1","reading":1,"at":"2024-01-01T10:00:00.000Z"}`
		early  = `{"terminal":"t1","reading":2,"at":"2024-01-01T09:00:00.000Z"}`
		equal  = `{"terminal":"t1","reading":2,"at":"2024-01-01T10:00:00.000Z"}`
		failed = `{"terminal":"t1","reading":3,"at":"2024-01-01T11:00:00.000Z"}`
	)
	for _, c := range []struct {
		name   string
		after  uint64
		rows   []string
		moment bool
		right  bool
	}{
		{"nothing yet", 27, nil, true, true},
		{"nothing any more", 28, nil, false, false},
		{"the first", 28, []string{one}, true, true},
		{"half of an event at one moment", 28, []string{early, one}, true, false},
		{"half of an event piece by piece", 28, []string{early, one}, false, true},
		{"half of an event that was durable", 29, []string{early, one}, false, false},
		{"all", 29, []string{early, one, equal}, true, true},
		{"out of order", 29, []string{one, early, equal}, true, false},
		{"one of them twice", 28, []string{one, one}, false, false},
		{"what was not kept", 28, []string{early, one, equal, failed}, false, false},
	} {
		a := verifier.Answer{Question: "it", Model: "TerminalEvent", ID: "t1", After: c.after, OneMoment: c.moment}
		for _, row := range c.rows {
			a.Rows = append(a.Rows, json.RawMessage(row))
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
	c := card()
	change(&c)
	return put(model.CardCodec, c)
}

// put writes a row, as the writers do.
func put[R any](codec *querydb.Codec[R], row R, writers ...string) func(*testing.T, *querydb.DB) {
	return func(t *testing.T, db *querydb.DB) {
		t.Helper()
		encoded, err := querydb.Encode(codec, &record.Builder{}, &row)
		if err != nil {
			t.Fatal(err)
		}
		encoded.Writers = writers
		apply(t, db, querydb.Batch{Writes: []querydb.Write{{Model: codec.Model, Row: encoded}}})
	}
}

// putPass writes what is known of the use of a card, in place of one of those that write the row.
func putPass(t *testing.T, db *querydb.DB) {
	t.Helper()
	branch, uses := "b1", 2
	put(model.PassCodec, model.Pass{Card: "c2", BranchID: &branch, Branch: &model.BranchCopy{ID: "b1", Name: "new"},
		Uses: &uses}, "passes", "uses")(t, db)
}

// putTerminal has a reading that came later, at the same time, be the newest.
func putTerminal(t *testing.T, db *querydb.DB) {
	t.Helper()
	keeper, reading, at := "o2", 2, time.Date(2024, 1, 1, 10, 0, 0, 0, time.UTC)
	put(model.TerminalCodec, model.Terminal{Terminal: "t1", KeeperID: &keeper, Keeper: &model.OwnerCopy{ID: keeper,
		Name: "deux"}, Reading: &reading, At: &at}, "keepers", "readings")(t, db)
}

// moveItem writes an item of a home under another key of the local index.
func moveItem(t *testing.T, db *querydb.DB) {
	t.Helper()
	rows, err := db.ForFold("").Get(t.Context(), model.HomeModel, []keys.Key{homeKey(t)}, true)
	if err != nil {
		t.Fatal(err)
	}
	last := &rows[0].Items[len(rows[0].Items)-1]
	last.Indexes = slices.Clone(last.Indexes)
	for i := range last.Indexes {
		if last.Indexes[i].HasSK {
			last.Indexes[i].SK += "elsewhere"
		}
	}
	apply(t, db, querydb.Batch{Writes: []querydb.Write{{Model: model.HomeModel, Row: rows[0]}}})
}

func homeKey(t *testing.T) keys.Key {
	t.Helper()
	key, err := querydb.KeyOf(model.HomeCodec, &model.Home{ID: "h1"})
	if err != nil {
		t.Fatal(err)
	}
	return key
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
