package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
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
