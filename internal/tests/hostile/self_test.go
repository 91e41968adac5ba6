package hostile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

func TestRequestsDependOnSeedAndNumberAlone(t *testing.T) {
	s := openShop(t)
	pages, err := harvest(s)
	if err != nil {
		t.Fatal(err)
	}
	forwards, backwards := newAttacker(7, s.schema, pages), newAttacker(7, s.schema, pages)
	other := newAttacker(8, s.schema, pages)
	const some = 2000
	var first []*request
	for n := range some {
		first = append(first, forwards.request(n))
	}
	differ := 0
	for n := some - 1; n >= 0; n-- {
		again := backwards.request(n)
		again.want, first[n].want = nil, nil // functions are not compared
		if !reflect.DeepEqual(again, first[n]) {
			t.Fatalf("request %d is once\n%s\nand once\n%s", n, first[n], again)
		}
		if other.request(n).String() != again.String() {
			differ++
		}
	}
	if differ < some*9/10 {
		t.Errorf("only %d of %d requests are others with another seed", differ, some)
	}
	s.log.End()
	s.folded(t)
}

func TestTextsAreChanged(t *testing.T) {
	d := newDice(1, 1)
	for _, text := range []string{"", "a", boss.token(), strings.Repeat("x", 40)} {
		for range 500 {
			if d.changed(text) == text {
				t.Fatalf("%q is not changed", text)
			}
		}
	}
}

func TestLeaksAreFound(t *testing.T) {
	for _, message := range []string{
		"runtime error: index out of range [3] with length 3", "goroutine 12 [running]:", "query Order: pebble: closed",
		"panic: oops",
		"json: cannot unmarshal string into Go value", "strconv.ParseInt: parsing \"x\": invalid syntax",
		"%!s(int=7) is wrong",
		"open /srv/data/rows: no such file", "graph.Runtime has none", "querydb.ErrInvalid", "map[a:1]",
		"interface {} is string, not int",
		"at github.com/foldql/foldql/graph", "read.go:12", "want int64", "<nil>", "a *ast.Field", "dial tcp: *net.OpError",
	} {
		if leak(message) == "" {
			t.Errorf("%q passes", message)
		}
	}
	for _, message := range []string{
		"", "you are not allowed to read Invoice", `Cannot query field "events" on type "Query". Did you mean "Sales_Order"?`,
		"Event 0 (id \"h-1\"), data: not JSON: want ',' or '}', got 's' at byte 92.",
		"internal error; the server's log has " +
			"it under ABC",
		"Int cannot represent 99999999999: it has more than 32 bits", "the request ran out of time reading Order; ask for " +
			"less, or again",
	} {
		if text := leak(message); text != "" {
			t.Errorf("%q is taken for a leak, because of %q", message, text)
		}
	}
}

// TestWrongAnswersAreFound: the verifier is itself to be trusted.
func TestWrongAnswersAreFound(t *testing.T) {
	const problem = "application/problem+json"
	ask, take := post("", "{a}", ""), structured("", "{}")
	forged := post("", "{a}", "")
	forged.want = unauthenticated
	good := post("", "{a}", "")
	good.want = answered
	troubled := post("", "{a}", "")
	troubled.trouble = refusing
	for _, c := range []struct {
		name      string
		q         *request
		status    int
		mediaType string
		body      string
		right     bool
	}{
		{"data", ask, 200, "", `{"data":{"a":1}}`, true},
		{"an error", ask, 200, "", `{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}],"data":{"a":null}}`, true},
		{"nothing", ask, 200, "", ``, false},
		{"text", ask, 200, "", `oops`, false},
		{"more than JSON", ask, 200, "", `{"data":{}}{}`, false},
		{"no UTF-8", ask, 200, "", "{\"data\":{\"a\":\"\xff\"}}", false},
		{"another media type", ask, 200, "text/html", `{"data":{}}`, false},
		{"neither data nor errors", ask, 200, "", `{}`, false},
		{"data that is null without an error", ask, 200, "", `{"data":null}`, false},
		{"no errors in the list", ask, 200, "", `{"errors":[],"data":{}}`, false},
		{"an error without a code", ask, 200, "", `{"errors":[{"message":"no"}]}`, false},
		{"an error without a message", ask, 200, "", `{"errors":[{"extensions":{"code":"FORBIDDEN"}}]}`, false},
		{"another code", ask, 200, "", `{"errors":[{"message":"no","extensions":{"code":"OOPS"}}]}`, false},
		{"an internal error", ask, 200, "", `{"errors":[{"message":"no","extensions":{"code":"INTERNAL"}}]}`, false},
		{"a leak", ask, 200, "", `{"errors":[{"message":"goroutine 1","extensions":{"code":"FORBIDDEN"}}]}`, false},
		{"status 500", ask, 500, "", `{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}`, false},
		{"unavailable without trouble", ask, 200, "", `{"errors":[{"message":"no","extensions":{"code":"UNAVAILABLE"}}]}`,
			false},
		{"unavailable in trouble", troubled, 503, "", `{"errors":[{"message":"no","extensions":{"code":"UNAVAILABLE"}}]}`,
			true},
		{"503 for something else", troubled, 503, "", `{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}`,
			false},
		{"a forged token let in", forged, 200, "", `{"data":{"a":1}}`, false},
		{"a good query refused", good, 200, "", `{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}`, false},
		{"events taken", take, 201, "application/json", `{"appended":[{"partition":"0","offset":1,"duplicate":false}]}`,
			true},
		{"none new, status 201", take, 201, "application/json",
			`{"appended":[{"partition":"0","offset":1,"duplicate":true}]}`, false},
		{"a problem", take, 400, problem,
			`{"type":"urn:foldql:problem:invalid-event","title":"t","status":400,"detail":"d"}`, true},
		{"a problem of another status", take, 400, problem,
			`{"type":"urn:foldql:problem:conflict","title":"t","status":409,"detail":"d"}`, false},
		{"an unknown problem", take, 400, problem,
			`{"type":"urn:foldql:problem:oops","title":"t","status":400,"detail":"d"}`, false},
		{"an internal problem", take, 500, problem,
			`{"type":"urn:foldql:problem:internal","title":"t","status":500,"detail":"d"}`, false},
		{"a problem without detail", take, 400, problem, `{"type":"urn:foldql:problem:conflict","title":"t","status":400}`,
			false},
		{"a leak in a reason", take, 400, problem,
			`{"type":"urn:foldql:problem:conflict","title":"t","status":400,"detail":"d","reason":"map[]"}`, false},
	} {
		a := &answer{status: c.status, header: http.Header{}}
		a.header.Set("Content-Type", c.mediaType)
		if c.mediaType == "" {
			a.header.Set("Content-Type", "application/json; charset=utf-8")
		}
		a.body.WriteString(c.body)
		if _, err := verify(c.q, a); (err == nil) != c.right {
			t.Errorf("%s: right %t, verified %v", c.name, c.right, err)
		}
	}
}

// TestEveryCodeIsAskedFor: the lists of what must be met are those of the code.
func TestEveryCodeIsAskedFor(t *testing.T) {
	// No request brings about a stored object that another program has broken, or rows of a former schema, as REBUILDING
	// takes, and none waits for what was written, as STALE does; the shop was given no documents that alone it answers, as
	// UNTRUSTED_DOCUMENT takes; INTERNAL none may.
	wanted := []string{string(graphqlerr.Internal), string(graphqlerr.AggregateIncomplete), string(graphqlerr.Stale),
		string(graphqlerr.Rebuilding), string(graphqlerr.Untrusted)}
	for _, c := range codes {
		wanted = append(wanted, string(c))
	}
	compareLists(t, wanted, constants(t, "../../../graph/graphqlerr/graphqlerr.go"))
	// No request brings these about: they are of a server that starts, of its disk and of its log, and of a network that
	// is slow.
	compareLists(t, append([]string{"internal", "insufficient-storage", "log-mismatch", "request-timeout"}, problems...),
		problemTypes(t, "../../../eventlog/ingest/problem.go"))
	compareLists(t, append([]string{
		"internal", "failed-again", "folds-nothing", "foreign-host", "foreign-origin", "insufficient-storage", "not-local",
		"not-writable", "overloaded", "request-timeout", "starting", "unavailable", "unreadable-events",
	}, operatorProblems...), problemTypes(t, "../../../server/internal/problem/problem.go"))
}

func compareLists(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("asked for are %v, there are %v", got, want)
	}
}

// constants returns the values of the constants of type Code.
func constants(t *testing.T, file string) (values []string) {
	inspect(t, file, func(n ast.Node) {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return
		}
		kind, ok := spec.Type.(*ast.Ident)
		if ok && kind.Name == "Code" {
			values = append(values, text(t, spec.Values[0]))
		}
	})
	return values
}

// problemTypes returns what is appended to the prefix of problem types anywhere.
func problemTypes(t *testing.T, file string) (values []string) {
	inspect(t, file, func(n ast.Node) {
		sum, ok := n.(*ast.BinaryExpr)
		if !ok || sum.Op != token.ADD {
			return
		}
		if left, ok := sum.X.(*ast.Ident); ok && (left.Name == "urn" || left.Name == "Prefix") {
			values = append(values, text(t, sum.Y))
		}
	})
	return values
}

func inspect(t *testing.T, file string, each func(ast.Node)) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		each(n)
		return true
	})
}

func text(t *testing.T, e ast.Expr) string {
	t.Helper()
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%v is no literal", e)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestDamageIsFound: a row that a store has lost, one that it should not have, and one that is another.
func TestDamageIsFound(t *testing.T) {
	folded := sampleLog(t)
	folded.End()
	want := secondShop(t, folded)
	customer := slices.Sorted(maps.Keys(ofTable(want.store, "Customer")))[0]
	table := want.store.tables["Customer"]
	there, err := want.store.Get(t.Context(), driver.Get{Table: table, Keys: []keys.Key{{PK: customer}}})
	if err != nil {
		t.Fatal(err)
	}
	another := there[0]
	another.Position.Offset++
	for _, c := range []struct {
		name  string
		write *driver.Write
	}{
		{"nothing", nil},
		{"lost", &driver.Write{Table: table, Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: customer}}}},
		{"more", &driver.Write{Table: table, Row: driver.Row{Key: keys.Key{PK: "nobody"}, Record: there[0].Record}}},
		{"another", &driver.Write{Table: table, Row: another}},
	} {
		got := secondShop(t, folded)
		if c.write != nil {
			if err := got.store.Apply(t.Context(), driver.Batch{Writes: []driver.Write{*c.write}}); err != nil {
				t.Fatal(err)
			}
		}
		differences, rows := compareStores(t, got.store, want.store)
		if (len(differences) > 0) != (c.write != nil) {
			t.Errorf("%s: found %v", c.name, differences)
		}
		if rows < 1000 {
			t.Errorf("%s: only %d rows compared", c.name, rows)
		}
	}
}

// ofTable returns the partition keys of a table's rows.
func ofTable(o *observed, name string) map[string]bool {
	pks := map[string]bool{}
	for id := range o.rows {
		if id.table == name {
			pks[id.key.PK] = true
		}
	}
	return pks
}
