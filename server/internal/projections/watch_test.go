package projections

import (
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestWhatIsWrongWithTheRowsOfAUnitIsNoMatterOfAnother, though all units share a survey.
func TestWhatIsWrongWithTheRowsOfAUnitIsNoMatterOfAnother(t *testing.T) {
	var models []*querydb.Model
	set := &Set{}
	for _, name := range []string{"Order", "Customer"} {
		m := &querydb.Model{Name: name, Table: name, Version: "1"}
		p := projection.New(&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}},
			projection.Projection{Name: name})
		models = append(models, m)
		set.Projections = append(set.Projections, p)
		u := &unit{set: set, projections: []projection.Projection{p}}
		set.units, set.All = append(set.units, u), append(set.All, &Running{Name: name, members: p.Members(), unit: u})
	}
	db, err := querydb.Open(t.Context(), memstore.NewMultiWriter(memstore.Options{}), models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set.keep = &Keep{DB: db}
	damaged := querydb.Note{Kind: "projection", ID: "Order", Value: []byte("{")}
	if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{damaged}}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if _, err := lookWithOthers(t.Context(), set.units[0], now); err == nil || !strings.Contains(err.Error(), "Order") {
		t.Errorf("the survey of a unit whose record is damaged says %v, want an error that names it", err)
	}
	found, err := lookWithOthers(t.Context(), set.units[1], now)
	if err != nil || !found.folds || len(found.all) != 1 {
		t.Errorf("the survey of another unit finds %+v, %v", found, err)
	}
}

// TestAUnitIsSurveyedAnewForItsOwnRowsAndForThoseOfOtherVersions, and not for those of other units: each of many would
// be surveyed for each of many.
func TestAUnitIsSurveyedAnewForItsOwnRowsAndForThoseOfOtherVersions(t *testing.T) {
	db, err := querydb.Open(t.Context(), memstore.NewMultiWriter(memstore.Options{}), nil, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	set := &Set{keep: &Keep{DB: db}}
	for _, p := range []projection.Projection{{Name: "Order"}, {Name: "Customer"}} {
		u := &unit{set: set, projections: []projection.Projection{p}}
		set.units, set.All = append(set.units, u), append(set.All, &Running{Name: p.Name, members: p.Members(), unit: u})
	}
	orders := set.units[0]
	read := func() string {
		t.Helper()
		text, err := (&watch{}).read(t.Context(), orders, 0)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, tt := range []struct {
		kind, projection string
		surveyed         bool
	}{
		{"projection", "Order", true},
		{"projection build", "Order", true},
		{"completion build", "Order", true},
		{"projection", "Customer", false},
		{"projection build", "Customer", false},
		{"projection", "OrderOfTheNextVersion", true},
		{"checkpoint", "Order", false},
	} {
		before := read()
		note := querydb.Note{Kind: tt.kind, ID: tt.projection, Value: []byte("{}")}
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
			t.Fatal(err)
		}
		if now := read(); (now != before) != tt.surveyed {
			t.Errorf("after a note of kind %q of %s: surveyed anew %t, want %t: %q", tt.kind, tt.projection, now != before,
				tt.surveyed, now)
		}
	}
}
