package verifier_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// late has a deposit that fails, since its account is opened after it, twice.
const late = `{"specversion":"1.0","id":"1","source":"/l","type":"Deposited","time":"2024-01-01T00:00:01Z","data":{"account":"a","amount":100,"currency":"EUR"}}
{"specversion":"1.0","id":"2","source":"/l","type":"Opened","time":"2024-01-01T00:00:02Z","data":{"account":"a","owner":"Ada","currency":"EUR"}}
{"specversion":"1.0","id":"3","source":"/l","type":"Deposited","time":"2024-01-01T00:00:03Z","data":{"account":"a","amount":1,"currency":"EUR"}}
{"specversion":"1.0","id":"4","source":"/l","type":"Closed","time":"2024-01-01T00:00:04Z","data":{"account":"a"}}
{"specversion":"1.0","id":"5","source":"/l","type":"Opened","time":"2024-01-01T00:00:05Z","data":{"account":"a","owner":"Bo","currency":"EUR"}}
{"specversion":"1.0","id":"6","source":"/l","type":"Deposited","time":"2024-01-01T00:00:06Z","data":{"account":"a","amount":2,"currency":"EUR"}}
{"specversion":"1.0","id":"7","source":"/l","type":"Closed","time":"2024-01-01T00:00:07Z","data":{"account":"a"}}
`

// TestAnAnswerIsOfTheRowsThatServed: rows that were built had a deposit retried after event 2. Those that served had
// come further by then: they may have had it retried later, or never.
func TestAnAnswerIsOfTheRowsThatServed(t *testing.T) {
	const beside, alone = `{"moment":2,"generation":1,"beside":[0]}`, `{"moment":2,"generation":1}`
	for _, c := range []struct {
		about, decision, owner, amount string
		right                          bool
	}{
		{"the rows that were built", beside, "Ada", "101", true},
		{"never", beside, "Ada", "1", true},
		{"after event 5", beside, "Bo", "100", true},
		{"after event 6", beside, "Bo", "102", true},
		{"twice", beside, "Ada", "201", false},
		{"the rows that were built, where there were no others", alone, "Ada", "101", true},
		{"never, where there were no others", alone, "Ada", "1", false},
		{"after event 5, where there were no others", alone, "Bo", "100", false},
	} {
		t.Run(c.about, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events.jsonl")
			if err := os.WriteFile(file, []byte(late), 0o600); err != nil {
				t.Fatal(err)
			}
			store := memstore.New()
			db, err := querydb.Open(t.Context(), store, model.All, querydb.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := note("decision:Balance", "0@00000000000000000001", []byte(c.decision))(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			fold(t, file, db)
			row := json.RawMessage(`{"account":"a","owner":"` + c.owner + `","currency":"EUR","amount":"` + c.amount +
				`","moves":0}`)
			verdict, err := project.Verify(t.Context(), file, store, []verifier.Answer{
				{Question: "the row", Model: "Balance", Partition: "a", OneMoment: true, Rows: []json.RawMessage{row}},
				{Question: "an index", Model: "Balance", OneMoment: true, Rows: []json.RawMessage{row}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if wrong := len(verdict.Differences); wrong != 0 && wrong != 2 || wrong == 0 != c.right {
				t.Errorf("right: %t, want %t:\n%s", wrong == 0, c.right, strings.Join(verdict.Differences, "\n"))
			}
		})
	}
}
