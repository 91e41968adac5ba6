package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// TestOwnersReadTheirRowByAnyFormOfItsKey: by the text of the sort key, and by its parts.
func TestOwnersReadTheirRowByAnyFormOfItsKey(t *testing.T) {
	api := newShop()
	line := api.Types["Line"]
	line.Model = model("Line", stored("shop", "String", "orderId", "String", "category", "String", "productId", "ID",
		"quantity", "Int", "by", "String"), []int{0, 1}, []int{2, 3})
	line.Owner, line.Rule = 5, &catalog.Rule{Owner: true}
	b := newBenchOf(t, api, shopSDL, Config{}, memstore.New())
	b.put(t, "Line", row{"shop": "s", "orderId": "1", "category": "toys", "productId": "p", "quantity": 3, "by": "ann"})
	for _, key := range []string{
		`id:"s/1",_subId:"toys/p"`, `id:"s/1",category:"toys",productId:"p"`,
		`shop:"s",orderId:"1",category:"toys",productId:"p"`, `shop:"s",orderId:"1",_subId:"toys/p"`,
	} {
		query := `{Line(` + key + `){quantity}}`
		if got := b.do(as(t.Context(), "ann"), query, nil); got.Errors != nil || fmt.Sprint(got.Data) !=
			"map[Line:map[quantity:3]]" {
			t.Errorf("%s: the owner gets %v", query, got)
		}
		if diff := cmp.Diff([]string{"FORBIDDEN Line"}, b.do(as(t.Context(), "bob"), query, nil).Errors); diff != "" {
			t.Errorf("%s: somebody else (-want +got)\n%s", query, diff)
		}
	}
	if diff := cmp.Diff([]string{"FORBIDDEN Line"}, b.do(as(t.Context(), "ann"), `{Line(id:"s/1"){quantity}}`,
		nil).Errors); diff != "" {
		t.Errorf("the last row of a partition, which is nobody's (-want +got)\n%s", diff)
	}
}

// TestARowThatCannotBeReadIsAsOneThatIsNotThere to somebody who may read own rows alone: its error would tell that
// somebody else has it.
func TestARowThatCannotBeReadIsAsOneThatIsNotThere(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	ann := as(t.Context(), "ann")
	queries := []string{`{Invoice(id:%q){amount}}`, `{InvoiceByIds(ids:[%q,"none"]){amount}}`,
		`{InvoiceByIds(ids:["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16",%q]){amount}}`}
	var want []result
	for _, query := range queries {
		want = append(want, b.do(ann, fmt.Sprintf(query, "nothing"), nil))
	}
	for code, cause := range map[string]error{
		"INTERNAL": driver.ErrDamaged, "UNAVAILABLE": fmt.Errorf("%w: %w", driver.ErrUnavailable, aggregate.ErrTorn),
	} {
		b.store.fail = func(_ context.Context, table string) error {
			if table == "Invoice" {
				return fmt.Errorf("item i2: %w", cause)
			}
			return nil
		}
		for i, query := range queries {
			query = fmt.Sprintf(query, "i2")
			if diff := cmp.Diff(want[i], b.do(ann, query, nil)); diff != "" {
				t.Errorf("%v: %s (-not there +cannot be read)\n%s", cause, query, diff)
			}
			boss := b.do(as(t.Context(), "boss", "Admin"), query, nil).Errors
			if len(boss) != 1 || !strings.HasPrefix(boss[0], code+" ") {
				t.Errorf("%s: to the group, which may read all rows, is said %v, want %s", query, boss, code)
			}
		}
	}
}

// TestAnOwnerIsAskedToTryAgainWhereTheirAggregateChangesTooFast: that it is not there would be untrue, and clients
// would not ask again. To others it is as if it were not.
func TestAnOwnerIsAskedToTryAgainWhereTheirAggregateChangesTooFast(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	roots := map[string]record.Record{}
	for typ, id := range map[string]string{"Invoice": "i2", "Ownership": "acc1"} { // ann's
		rows, err := b.db.Get(t.Context(), b.catalog.Types[typ].Model, []keys.Key{{PK: id}}, false)
		if err != nil || rows[0].Record == nil {
			t.Fatal(rows, err)
		}
		roots[typ] = rows[0].Record
	}
	for _, tt := range []struct{ torn, query, others string }{
		{"Invoice", `{Invoice(id:"i2"){amount}}`, "[FORBIDDEN Invoice]"},
		{"Invoice", `{InvoiceByIds(ids:["i2","none"]){amount}}`, "[]"},
		{"Invoice", `{InvoiceByIds(ids:["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","i2"]){amount}}`,
			"[]"},
		{"Ownership", `{InvoiceByOwnerId(ownerId:"acc1"){items{amount}}}`, "[FORBIDDEN InvoiceByOwnerId]"},
	} {
		b.store.fail = func(_ context.Context, table string) error {
			if table == tt.torn {
				return fmt.Errorf("%w: %w", driver.ErrUnavailable, &aggregate.TornError{Root: roots[table]})
			}
			return nil
		}
		own := b.do(as(t.Context(), "ann"), tt.query, nil).Errors
		if len(own) != 1 || !strings.HasPrefix(own[0], "UNAVAILABLE ") {
			t.Errorf("%s: the owner is told %v, want UNAVAILABLE", tt.query, own)
		}
		if got := fmt.Sprint(b.do(as(t.Context(), "bob"), tt.query, nil).Errors); got != tt.others {
			t.Errorf("%s: another is told %s, want %s", tt.query, got, tt.others)
		}
	}
}

// TestTheErrorOfAPageNamesNoRowOfOthers: where one row of several people's cannot be read, nobody knows whose it is.
func TestTheErrorOfAPageNamesNoRowOfOthers(t *testing.T) {
	shop := newBench(t, Config{})
	shop.stock(t)
	for _, tc := range []struct {
		b                  *bench
		query, path, group string // the group may read all rows
	}{
		{shop, `{InvoiceByOwnerId(ownerId:"acc1"){items{amount}}}`, "InvoiceByOwnerId", "Admin"},
		{desks(t, true), `{Desk(id:"d2"){firstOfPerson{version}}}`, "Desk.firstOfPerson", "Boss"},
	} {
		tc.b.store.fail = func(_ context.Context, table string) error {
			if table == "Invoice" || table == "Paper" {
				return &aggregate.IncompleteError{Reason: `the item "bob" is missing`}
			}
			return nil
		}
		for code, caller := range map[string]context.Context{
			"INTERNAL": as(t.Context(), "ann"), "AGGREGATE_INCOMPLETE": as(t.Context(), "eve", tc.group),
		} {
			got := tc.b.do(caller, tc.query, nil).Errors
			if diff := cmp.Diff([]string{code + " " + tc.path}, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.query, diff)
			}
		}
	}
}
