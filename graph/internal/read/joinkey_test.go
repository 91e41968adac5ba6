package read

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// drawHalf draws a half of one field: bare or in a form, of any casing.
func drawHalf(t *rapid.T, m *querydb.Model, field int) querydb.Half {
	kind := keys.KindString
	if m.Fields[field].Scalar == "Int" {
		kind = keys.KindInt
	}
	l := keys.Layout{Sep: "/", Segments: []keys.Segment{{Field: m.Fields[field].Name, Kind: kind}}}
	if rapid.Bool().Draw(t, "in a form") {
		l.Head = rapid.SampledFrom([]string{"", "thing"}).Draw(t, "head")
		l.Casing = rapid.SampledFrom([]keys.Casing{keys.CasingNone, keys.CasingLower}).Draw(t, "casing")
	}
	return querydb.Half{Layout: l, Fields: []int{field}}
}

// drawTarget draws a target in a table or an index, which may have a rule that names a table of owners, and may serve
// rows of a former layout.
func drawTarget(t *rapid.T) (rd *Reader, g Target) {
	m := &querydb.Model{Name: "Thing", Table: "Things", TTL: -1, CreatedAt: -1, UpdatedAt: -1, Fields: []driver.Field{
		{Name: "id", Scalar: rapid.SampledFrom([]string{"ID", "String", "Int"}).Draw(t, "id")},
		{Name: "group", Scalar: "String"},
	}}
	m.PK = drawHalf(t, m, 0)
	if rapid.Bool().Draw(t, "sorted") {
		m.SK = drawHalf(t, m, rapid.IntRange(0, 1).Draw(t, "sorted by"))
	}
	m.Indexes = []querydb.Index{{Name: "group", PK: drawHalf(t, m, rapid.IntRange(0, 1).Draw(t, "index of"))}}
	typ := &catalog.Type{Name: "Thing", Model: m, Owner: -1}
	c := &catalog.Catalog{Types: map[string]*catalog.Type{"Thing": typ}, Queries: map[string]*catalog.Query{}}
	if rapid.Bool().Draw(t, "guarded") {
		c.Queries["ThingByGroup"] = &catalog.Query{Type: "Thing", Index: 0, Rule: &catalog.IndexRule{AuthTable: "Thing"}}
	}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if rapid.Bool().Draw(t, "former") {
		was := *m
		was.PK = drawHalf(t, m, 0)
		if err := db.Generations().Serve(m, 0, was.Layout()); err != nil {
			t.Fatal(err)
		}
	}
	return New(db, c, Config{}), Target{Type: typ, Index: rapid.IntRange(driver.Primary, 0).Draw(t, "index"),
		Whole: rapid.IntRange(0, 3).Draw(t, "whole") == 0}
}

// TestAnIDThatIsTheKeyLeadsWhereOfSays: where no key is composed, ids lead where they would if one were.
func TestAnIDThatIsTheKeyLeadsWhereOfSays(t *testing.T) {
	texts, others := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rd, g := drawTarget(t)
		find, err := rd.JoinKeys(t.Context(), g)
		if err != nil {
			return // the former layout does not have the key
		}
		composes := find
		composes.text = false
		if find.text {
			texts++
		} else {
			others++
		}
		for range 5 {
			text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.Just("42"), rapid.Just("Ä/%"),
				rapid.Just(strings.Repeat("x", keys.MaxPK)), rapid.Just(strings.Repeat("x", keys.MaxPK+1))).Draw(t, "text")
			json := rapid.SampledFrom([]string{strconv.Quote(text), text, `"` + text + `"`, "42", "null"}).Draw(t, "json")
			f := &driver.Field{Name: "f", Scalar: rapid.SampledFrom([]string{"ID", "String", "Int", "Date"}).Draw(t, "scalar")}
			want, wantOK, wantErr := composes.OfStored(f, []byte(json))
			got, ok, err := find.OfStored(f, []byte(json))
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || ok != wantOK || (ok && got != want) {
				t.Fatalf("%.50s of type %s leads to %.80v, %t, %v; composed to %.80v, %t, %v", json, f.Scalar, got, ok, err, want,
					wantOK, wantErr)
			}
		}
	})
	if texts == 0 || others == 0 {
		t.Errorf("in %d targets an id is the key, and in %d it is not: the test proves nothing", texts, others)
	}
}

// TestAListOfJoinKeysIsOfJoinKeys, though it keeps what few of them have apart, and is used again.
func TestAListOfJoinKeysIsOfJoinKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SampledFrom([]string{"", "a", "b"})
		var list JoinKeyList
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			owned := rapid.Bool().Draw(t, "owned")
			draw := func() JoinKey {
				at := JoinKey{Key: keys.Key{PK: few.Draw(t, "pk"), SK: few.Draw(t, "sk")}}
				if owned && rapid.Bool().Draw(t, "is owned") {
					at.owner, at.auth.PK = few.Draw(t, "owner"), few.Draw(t, "auth")
				}
				return at
			}
			var want []JoinKey
			for range rapid.IntRange(0, 12).Draw(t, "join keys") {
				at := draw()
				place := slices.IndexFunc(want, func(other JoinKey) bool { return other == at })
				for i := range list.Keys {
					if list.Is(i, &at) != (i == place) {
						t.Fatalf("%+v is %+v: %t", list.At(i), at, list.Is(i, &at))
					}
				}
				if place < 0 {
					want = append(want, at)
					list.Add(at)
				}
			}
			if len(list.Keys) != len(want) {
				t.Fatalf("%d join keys, want %d", len(list.Keys), len(want))
			}
			seen := map[keys.Key]bool{}
			for i, at := range want {
				if list.At(i) != at {
					t.Fatalf("join key %d is %+v, want %+v", i, list.At(i), at)
				}
				if seen[at.Key] && list.distinct() {
					t.Fatalf("%v repeats in a list that is said to be distinct", at.Key)
				}
				seen[at.Key] = true
			}
			list.Clear()
		}
	})
}
