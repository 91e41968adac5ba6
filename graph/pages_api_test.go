package graph_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestEveryQueryWithATokenWalksItsRowsOnce walks all pages of each query of the shop that has pages, over HTTP, by both
// executors, in both directions and with pages of many sizes, while other rows of the partition come and go. The rows
// that stay come once, whole, and in the order of their keys' bytes; the others at most once, and in that order too.
//
// PAGES_SEED repeats a run.
func TestEveryQueryWithATokenWalksItsRowsOnce(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("PAGES_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("PAGES_SEED=%q is not a number", text)
		}
	}
	t.Logf("PAGES_SEED=%d repeats this", seed)
	a := newAPI(t)
	walked := 0
	for i, name := range slices.Sorted(maps.Keys(generated.Catalog.Queries)) {
		q := generated.Catalog.Queries[name]
		if a.schema.Query.Fields.ForName(name).Arguments.ForName("nextToken") == nil {
			continue
		}
		walked++
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			limits := []int{1, 2, 3, 7, 1000}
			rng.Shuffle(len(limits), func(i, j int) { limits[i], limits[j] = limits[j], limits[i] })
			limits = limits[:2] // another two each time, since small pages of many queries take long
			if graph.Raced {
				limits = limits[:1]
			}
			for _, limit := range limits {
				for _, reverse := range []bool{false, true} {
					newWalk(a.in(t), q, rng, limit, reverse).run("plans")
					if limit < 1000 || reverse {
						newWalk(a.in(t), q, rng, limit, reverse).run("resolvers")
					}
				}
			}
		})
	}
	connections := 0
	for _, typ := range a.schema.Types {
		if typ.Fields.ForName("nextToken") != nil {
			connections++
		}
	}
	if walked != connections {
		t.Errorf("%d queries walked, and there are %d connections", walked, connections)
	}
	if n := a.store.beyond.Load(); n > 0 {
		t.Errorf("%d pages had more keys examined than their rows and one", n)
	}
}

// walk is one way through one partition.
type walk struct {
	*api
	q         *catalog.Query
	model     *querydb.Model
	rng       *rand.Rand
	limit     int
	reverse   bool
	partition map[int]any // the values, by ordinal, of the fields that say which partition
	met       map[keys.Key]*walkedRow
	byID      map[string]*walkedRow
	leaving   []*walkedRow
	coming    int // how many rows may still come
}

// walkedRow is a row that has been in the partition.
type walkedRow struct {
	row    graph.TestRow
	write  querydb.Write
	stays  bool
	leaves bool // or has left
}

func newWalk(a *api, q *catalog.Query, rng *rand.Rand, limit int, reverse bool) *walk {
	a.Helper()
	w := &walk{
		api: a, q: q, model: generated.Catalog.Types[q.Type].Model, rng: rng, limit: limit, reverse: reverse,
		partition: map[int]any{}, met: map[keys.Key]*walkedRow{}, byID: map[string]*walkedRow{}, coming: 30,
	}
	for _, f := range w.half().Fields {
		w.partition[f] = fmt.Sprintf("%s<%d>%s", w.text(), rng.Uint32(), w.text())
	}
	w.neighbours()
	staying := 30
	if limit == 1000 {
		staying = 1005 // more than one page
	}
	var writes []querydb.Write
	for n := range staying + 15 {
		g := w.add(n < staying)
		if !g.stays {
			w.leaving = append(w.leaving, g)
		}
		writes = append(writes, g.write)
	}
	w.api.write(writes...)
	return w
}

// half is the partition half of the key that the query reads by.
func (w *walk) half() *querydb.Half {
	if w.q.Index == driver.Primary {
		return &w.model.PK
	}
	return &w.model.Indexes[w.q.Index].PK
}

// neighbours fills the partitions whose keys are closest to ours.
func (w *walk) neighbours() {
	f := w.half().Fields[len(w.half().Fields)-1]
	own := w.partition[f].(string)
	_, size := utf8.DecodeLastRuneInString(own)
	for _, other := range []string{own + "\x00", own + "a", own + "/", "\x00" + own, own[:len(own)-size]} {
		w.partition[f] = other
		w.api.write(w.api.encode(w.q.Type, w.row()))
	}
	w.partition[f] = own
}

// add makes a row that has never been in the partition.
func (w *walk) add(stays bool) *walkedRow {
	for {
		g := &walkedRow{row: w.row(), stays: stays}
		g.write = w.api.encode(w.q.Type, g.row)
		if w.met[g.write.Row.Key] == nil {
			w.met[g.write.Row.Key] = g
			w.byID[w.id(jsonOf(g.row))] = g
			return g
		}
	}
}

func (w *walk) row() graph.TestRow {
	r := graph.TestRow{}
	for i, f := range w.model.Fields {
		if v, fixed := w.partition[i]; fixed {
			r[f.Name] = v
		} else {
			r[f.Name] = w.value(i)
		}
	}
	return r
}

// value makes a value of a field. Sort keys of an index have few, so that most rows have their equals there.
func (w *walk) value(field int) any {
	f := w.model.Fields[field]
	if f.List {
		return []string{w.text(), w.text()}
	}
	switch f.Scalar {
	case "Boolean":
		return w.rng.IntN(2) == 0
	case "Int":
		return w.rng.IntN(1000)
	case "Int64":
		return w.rng.Int64()
	case "Float":
		return w.rng.Float64()
	case "Decimal":
		return fmt.Sprintf("%d.5", w.rng.IntN(1000))
	case "Date":
		return fmt.Sprintf("2024-01-%02d", 1+w.rng.IntN(31))
	case "DateTime":
		at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
		fraction := []time.Duration{0, time.Millisecond, 1500 * time.Microsecond, time.Nanosecond}[w.rng.IntN(4)]
		if w.q.Index != driver.Primary && slices.Contains(w.model.Indexes[w.q.Index].SK.Fields, field) {
			return at.Add(fraction)
		}
		return at.Add(fraction + time.Duration(w.rng.IntN(5000))*time.Second)
	}
	return w.text()
}

// letters are those that keys, JSON, or one of the encodings of Unicode write in a way of their own.
var letters = []rune("aab/%#~-:!$ " +
	"'\"\\\x00\x01\n\t\x7f\u0085é\u0301ß✓\u2028\ue000\ufeff\ufffd\uffff\U00010000😀\U0010ffff")

// text makes any text of Unicode, often of few letters, so that texts begin alike; it is not empty.
func (w *walk) text() string {
	var s strings.Builder
	for range 1 + w.rng.IntN(8) {
		if w.rng.IntN(8) > 0 {
			s.WriteRune(letters[w.rng.IntN(len(letters))])
		} else if r := rune(w.rng.IntN(0x110000)); r < 0xd800 || r > 0xdfff {
			s.WriteRune(r)
		}
	}
	if s.Len() == 0 {
		return "%"
	}
	return s.String()
}

// run reads all pages, and compares.
func (w *walk) run(way string) {
	w.Helper()
	query, vars := w.query()
	var seen []*walkedRow
	for {
		var data struct {
			Page struct {
				Items     []map[string]any
				NextToken *string
			}
		}
		w.ask(way, query, vars, &data)
		if n := len(data.Page.Items); n > w.limit || n < w.limit && data.Page.NextToken != nil {
			w.Fatalf("%s: a page of %d has %d rows, and its token is %v", w.name(way), w.limit, n, data.Page.NextToken)
		}
		for _, item := range data.Page.Items {
			g := w.byID[w.id(item)]
			if g == nil {
				w.Fatalf("%s: a row that was never in the partition: %q", w.name(way), fmt.Sprint(item))
			}
			if diff := gocmp.Diff(jsonOf(g.row), item); diff != "" {
				w.Fatalf("%s: -stored +answered:\n%s", w.name(way), diff)
			}
			if n := len(seen); n > 0 && w.order(seen[n-1], g) >= 0 {
				w.Fatalf("%s: out of order, or twice:\n%q\n%q", w.name(way), fmt.Sprint(seen[n-1].row), fmt.Sprint(g.row))
			}
			seen = append(seen, g)
		}
		if data.Page.NextToken == nil {
			break
		}
		vars["token"] = *data.Page.NextToken
		w.disturb(seen[len(seen)-1])
	}
	w.check(way, seen)
}

// query asks for a page with all stored fields.
func (w *walk) query() (text string, vars map[string]any) {
	vars = map[string]any{"limit": w.limit, "reverse": w.reverse}
	var declared, given, fields strings.Builder
	for i, arg := range w.q.PK {
		typ := w.schema.Query.Fields.ForName(w.q.Name).Arguments.ForName(arg.Name).Type
		fmt.Fprintf(&declared, "$pk%d: %s, ", i, typ)
		fmt.Fprintf(&given, "%s: $pk%d, ", arg.Name, i)
		vars[fmt.Sprint("pk", i)] = w.partition[w.half().Fields[i]]
	}
	for _, f := range w.model.Fields {
		fmt.Fprintf(&fields, "%s ", f.Name)
	}
	return fmt.Sprintf(`query(%s$limit: Int, $reverse: Boolean, $token: String) {
		page: %s(%slimit: $limit, reverse: $reverse, nextToken: $token) { items { %s} nextToken } }`,
		&declared, w.q.Name, &given, &fields), vars
}

// disturb takes rows away, often the one that the token stands on, and lets others come.
func (w *walk) disturb(last *walkedRow) {
	w.Helper()
	if !last.stays && !last.leaves && w.rng.IntN(2) == 0 {
		w.remove(last)
	}
	if len(w.leaving) > 0 && w.rng.IntN(2) == 0 {
		w.remove(w.leaving[w.rng.IntN(len(w.leaving))])
	}
	for range min(w.coming, w.rng.IntN(3)) {
		w.coming--
		g := w.add(false)
		w.leaving = append(w.leaving, g)
		w.api.write(g.write)
	}
}

func (w *walk) remove(g *walkedRow) {
	w.Helper()
	g.leaves = true
	w.leaving = slices.DeleteFunc(w.leaving, func(o *walkedRow) bool { return o == g })
	w.api.write(querydb.Write{Model: w.model, Row: querydb.Row{Key: g.write.Row.Key}})
}

// check compares what was seen of the rows that stay with the model: those rows, sorted by the bytes of their keys.
func (w *walk) check(way string, seen []*walkedRow) {
	w.Helper()
	var want []keys.Key
	for _, g := range slices.SortedFunc(maps.Values(w.met), w.order) {
		if g.stays {
			want = append(want, g.write.Row.Key)
		}
	}
	var got []keys.Key
	for _, g := range seen {
		if g.stays {
			got = append(got, g.write.Row.Key)
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		w.Fatalf("%s: -want +got:\n%s", w.name(way), diff)
	}
}

// order is the order in which the query gives rows: by sort key, in an index and then by the row's own key.
func (w *walk) order(a, b *walkedRow) int {
	x, y := &a.write.Row, &b.write.Row
	o := cmp.Or(cmp.Compare(x.Key.PK, y.Key.PK), cmp.Compare(x.Key.SK, y.Key.SK))
	if w.q.Index != driver.Primary {
		o = cmp.Or(cmp.Compare(x.Indexes[w.q.Index].SK, y.Indexes[w.q.Index].SK), o)
	}
	if w.reverse {
		return -o
	}
	return o
}

// id tells rows apart by the fields of their primary key, as they stand in an answer.
func (w *walk) id(item map[string]any) string {
	var id strings.Builder
	for _, half := range []*querydb.Half{&w.model.PK, &w.model.SK} {
		for _, f := range half.Fields {
			fmt.Fprintf(&id, "%q ", item[w.model.Fields[f].Name])
		}
	}
	return id.String()
}

func (w *walk) name(way string) string {
	return fmt.Sprintf("%s, limit %d, reverse %t, partition %q", way, w.limit, w.reverse, fmt.Sprint(w.partition))
}

// jsonOf is a row as an answer in JSON reads back.
func jsonOf(r graph.TestRow) map[string]any {
	item := map[string]any{}
	for name, v := range r {
		switch v := v.(type) {
		case int:
			item[name] = float64(v)
		case int64:
			item[name] = strconv.FormatInt(v, 10)
		case time.Time:
			item[name] = string(keys.AppendDateTime(nil, v))
		case []string:
			list := make([]any, len(v))
			for i := range v {
				list[i] = v[i]
			}
			item[name] = list
		default:
			item[name] = v
		}
	}
	return item
}
