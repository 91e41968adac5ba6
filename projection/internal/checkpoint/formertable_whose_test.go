package checkpoint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAProjectionThatThereIsNoMoreHasNoRowsForTheModelThatGetsItsTable, though the layout on record has no other name
// than the model has by now.
func TestAProjectionThatThereIsNoMoreHasNoRowsForTheModelThatGetsItsTable(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	for _, name := range []string{"Order", "OrderV2"} {
		was := inTable(t, store, name, name, "1")
		was.open(was.db)
	}
	for what, name := range map[string]string{"renamed": "Order", "given the table": "OrderV2"} {
		moved := inTable(t, store, name, "Order", "2")
		moved.p.Name = "OrderV2"
		moved.wantElsewhere(what, "OrderV2")
		at, err := checkpoint.LookAtServing(t.Context(), moved.db, moved.p)
		if _, own := at.Generations["OrderV2 OrderV2"]; err != nil || !own || len(at.Generations) != 1 {
			t.Errorf("%s: the rows that serve are %v, %v, want those of its own projection", what, at.Generations, err)
		}
	}
}

// TestRowsOfARenamedModelAreNoneOfTheModelThatGetsItsNameAndTable: what is on record in the name of its projection is
// its own. Models that swap names have each the rows of their own projections.
func TestRowsOfARenamedModelAreNoneOfTheModelThatGetsItsNameAndTable(t *testing.T) {
	for what, also := range map[string]bool{"a new model": false, "a model that swaps names with it": true} {
		store := memstore.NewMultiWriter(memstore.Options{})
		was := inTable(t, store, "Order", "Order", "1")
		was.open(was.db)
		if also {
			other := inTable(t, store, "Purchase", "Purchase", "1")
			other.p.Name = "Other"
			other.open(other.db)
		}
		purchase, order := newModel("Purchase", "2"), newModel("Order", "2")
		g := newProgramOf(t, store, memlog.New(memlog.Options{}), purchase, order)
		renamed := *g
		program := map[string][]*querydb.Model{"Order": {purchase}, "Other": {order}}
		renamed.p = checkpoint.Projection{Name: "Order", Models: program["Order"], Program: program}
		g.p = checkpoint.Projection{Name: "Other", Models: program["Other"], Program: program}
		renamed.wantElsewhere(what, "Order")
		if also {
			g.wantElsewhere(what, "Purchase")
		} else if s := g.look(); s.Serving != nil || len(s.ServesElsewhere()) > 0 || len(s.ServesOthers()) != 1 {
			t.Errorf("of %s there are %+v, want rows of the other", what, s)
		}
	}
}

// TestRowsThatAnotherProjectorHasWrittenStayThoseOfTheModelThatGetsOneMore, which has rows of another model on record.
func TestRowsThatAnotherProjectorHasWrittenStayThoseOfTheModelThatGetsOneMore(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	for _, name := range []string{"Device", "Account"} {
		was := inTable(t, store, name, name, "1")
		was.open(was.db)
	}
	device, usage := newModel("Device", "2"), newModel("Usage", "2")
	of := newProgramOf(t, store, memlog.New(memlog.Options{}), device, usage)
	one := func(name string, m *querydb.Model, all map[string][]*querydb.Model) *program {
		g := *of
		g.p = checkpoint.Projection{Name: name, Models: []*querydb.Model{m}, Program: all}
		return &g
	}
	both := map[string][]*querydb.Model{"Device": {device}, "Account": {device}}
	if s := one("Account", device, both).look(); !s.Servable || len(s.ServesElsewhere())+len(s.ServesOthers()) > 0 {
		t.Errorf("of the second projector there are %+v, want the rows of the first", s)
	}
	swapped := map[string][]*querydb.Model{"Device": {usage}, "Account": {device}, "Third": {device}}
	if s := one("Third", device, swapped).look(); len(s.ServesOthers()) != 1 {
		t.Errorf("of projectors that have no rows of the model there are %+v, want rows of another's", s)
	}
}

// TestOneSharedTableHasNoRowsOfOtherModelsThanTheOneWhoseOwnItWas.
func TestOneSharedTableHasNoRowsOfOtherModelsThanTheOneWhoseOwnItWas(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	was := inTable(t, store, "Order", "Shop", "1")
	was.open(was.db)
	shop := &querydb.SharedTable{Name: "Shop"}
	shared := func(name string) *querydb.Model {
		m := newModel(name, "2")
		m.Table, m.Entity = "Shop", &querydb.Entity{Table: shop, Kind: name}
		return m
	}
	order, back := shared("Order"), shared("Return")
	g := newProgramOf(t, store, memlog.New(memlog.Options{}), order, back)
	whose, err := querydb.WhoseRows(t.Context(), g.db, []*querydb.Model{order, back}, []int{0, 0})
	if diff := cmp.Diff([]querydb.Whose{querydb.WhoseModel, querydb.WhoseNone}, whose); err != nil || diff != "" {
		t.Errorf("the rows are of %v, %v:\n%s", whose, err, diff)
	}
}
