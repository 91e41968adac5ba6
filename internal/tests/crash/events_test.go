package crash

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/registryevents"
)

// shopLines are events of a shop of some size.
func shopLines(rng *rand.Rand) ([]string, error) {
	size := sample.Size{
		Customers: 5 + rng.IntN(20), Products: 5 + rng.IntN(30), Orders: 20 + rng.IntN(150), Statuses: 1 + rng.IntN(5),
		Lines: 1 + rng.IntN(4),
	}
	return linesOf(shopEvents(size)), nil
}

// registryLines are a run of the registry's events.
func registryLines(rng *rand.Rand) ([]string, error) {
	all, err := allRegistryLines()
	if err != nil {
		return nil, err
	}
	n := min(len(all), 300+rng.IntN(1200))
	from := rng.IntN(len(all) - n + 1)
	return all[from : from+n], nil
}

var allRegistryLines = sync.OnceValues(func() (lines []string, err error) {
	f, err := os.Open(registryevents.File(registry))
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	return lines, scan.Err()
})

func linesOf(events []eventlog.Event) []string {
	lines := make([]string, len(events))
	for i := range events {
		lines[i] = string(cloudevents.Append(nil, &events[i]))
	}
	return lines
}

// ledgerEvents are events of a few accounts, so that the same rows are changed, deleted and recreated all the time.
// Some cannot be folded.
func ledgerEvents(rng *rand.Rand) ([]string, error) {
	w := &writer{rng: rng, accounts: 3 + rng.IntN(25), now: time.Now().UTC().Truncate(time.Hour), kept: map[string]int{}}
	if rng.IntN(2) == 0 {
		w.now = w.now.Add(-longAgo)
	}
	n := 200 + rng.IntN(1000)
	endless := rng.IntN(2 * n) // every other log has an event that stops a projection
	for i := range w.accounts {
		w.open(fmt.Sprint("a", i))
	}
	for i := range branches {
		w.nameBranch(fmt.Sprint("b", i))
	}
	w.setTariffs()
	for i := range homes {
		w.formHome(fmt.Sprint("h", i))
	}
	for i := range plans {
		w.takePlan(fmt.Sprint("p", i))
	}
	if w.rng.IntN(8) == 0 {
		w.crowd([]int{300, 1500, 5000}[w.rng.IntN(3)])
	}
	for i := range n {
		if i == endless {
			w.deposit(ledger.Endless)
		}
		w.next()
	}
	return w.lines, nil
}

// longAgo is so long that rows which ended then are removed, some of them while a trial runs.
const longAgo = 49*time.Hour + 30*time.Minute

// writer writes events of the ledger. Rows end within the hours in which the events happen, which begin an hour ago, or
// longAgo.
type writer struct {
	rng      *rand.Rand
	accounts int
	now      time.Time
	lines    []string
	// bySubject gives each event about a copy, or what is copied, the row that it is about for its subject.
	bySubject bool
	there     map[string]bool // whether that row is there, where there are to be no other events
	kept      map[string]int  // readings of a terminal
	gone      int             // events after which other rows take the place of those that were changed so far
}

type data map[string]any

func (w *writer) write(kind, subject string, d data) {
	if w.there != nil && !w.possible(kind, subject) {
		return
	}
	w.now = w.now.Add(time.Duration(1+w.rng.IntN(8000)) * time.Millisecond)
	body, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings and numbers have a JSON form
	}
	e := eventlog.Event{
		ID: fmt.Sprint(len(w.lines) + 1), Source: "/ledger", Type: kind, Subject: subject, Time: w.now, Data: body,
	}
	w.lines = append(w.lines, string(cloudevents.Append(nil, &e)))
}

func (w *writer) account() string { return fmt.Sprint("a", w.rng.IntN(w.accounts)) }

func (w *writer) pick(from ...string) string { return from[w.rng.IntN(len(from))] }

func (w *writer) open(account string) {
	w.write("Opened", "", data{"account": account, "owner": w.pick("Ada", "Bo", "Çelik", "~"),
		"currency": w.pick("EUR", "SEK")})
}

func (w *writer) next() {
	a := w.account()
	if w.rng.IntN(2) == 0 {
		w.copied()
		return
	}
	switch n := w.rng.IntN(100); {
	case n < 12:
		w.open(a)
	case n < 40:
		w.write("Deposited", w.subject(a), data{"account": a, "amount": w.rng.IntN(100) - 20, "currency": w.pick("EUR",
			"SEK", "USD")})
	case n < 55:
		w.write("Moved", "", data{"from": a, "to": w.account(), "amount": w.rng.IntN(50)})
	case n < 68:
		w.describe(a)
	case n < 80:
		w.write("Held", w.subject(a), w.hold(a, data{"until": w.now.Add(time.Duration(w.rng.IntN(3600)) * time.Second),
			"keep": w.rng.IntN(2) == 0}))
	case n < 86:
		w.write("Released", "", w.hold(a, data{}))
	case n < 92:
		w.write("Closed", "", data{"account": a})
	case n < 95:
		w.write("Purged", "", data{"account": a})
	case n < 97:
		w.deposit(w.pick(ledger.NoCurrency, ledger.Gone))
	case n < 98:
		w.write("Deposited", w.subject(a), data{"account": a, "amount": "much"})
	case n < 99:
		w.write("Opened", "", data{"account": strings.Repeat("x", 3000), "owner": "long", "currency": "EUR"})
	default:
		w.lines = append(w.lines, `{"specversion":"1.0","id":"broken`)
	}
}

// deposit is one that cannot be counted by currency.
func (w *writer) deposit(currency string) {
	a := w.account()
	w.write("Deposited", w.subject(a), data{"account": a, "amount": 1, "currency": currency})
}

// subject is that of some events of an account: one that is a dead letter takes those behind it along, but not all.
func (w *writer) subject(account string) string {
	if w.rng.IntN(3) > 0 {
		return ""
	}
	return fmt.Sprint(account, "/", len(w.lines)/60)
}

func (w *writer) hold(account string, d data) data {
	d["account"], d["hold"], d["level"] = account, w.pick("h1", "h2", "h3"), w.rng.IntN(21)-10
	return d
}

func (w *writer) describe(account string) {
	d := data{"account": account, "forget": []string{}, "remove": []string{}}
	if w.rng.IntN(2) == 0 {
		d["owner"] = w.pick("Ada", "Bo", "")
	}
	if w.rng.IntN(2) == 0 {
		d["city"] = w.pick("Oslo", "Řím", "a/b")
	}
	if w.rng.IntN(2) == 0 {
		d["rank"] = w.rng.IntN(5) - 2
	}
	switch w.rng.IntN(6) {
	case 0:
		d["forget"] = []string{w.pick("owner", "city")}
	case 1:
		d["remove"] = []string{w.pick("rank", "city")}
	}
	w.write("Described", "", d)
}
