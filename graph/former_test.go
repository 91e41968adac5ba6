package graph

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// formerModel is a model as an earlier schema had it: with these fields, and keys that begin with a word.
func formerModel(m *querydb.Model, fields ...string) *querydb.Model {
	was := *m
	was.Fields, was.Indexes = nil, nil
	for _, name := range fields {
		i := slices.IndexFunc(m.Fields, func(f driver.Field) bool { return f.Name == name })
		was.Fields = append(was.Fields, m.Fields[i])
	}
	at := func(h querydb.Half) (moved querydb.Half, ok bool) {
		moved = querydb.Half{Layout: h.Layout}
		if !h.Layout.Exists() {
			return moved, true
		}
		moved.Layout.Head = "was"
		for _, f := range h.Fields {
			to := slices.Index(fields, m.Fields[f].Name)
			if to < 0 {
				return moved, false
			}
			moved.Fields = append(moved.Fields, to)
		}
		return moved, true
	}
	was.PK, _ = at(m.PK)
	was.SK, _ = at(m.SK)
	for _, x := range m.Indexes {
		pk, hasPK := at(x.PK)
		sk, hasSK := at(x.SK)
		if hasPK && hasSK {
			was.Indexes = append(was.Indexes, querydb.Index{Name: x.Name, PK: pk, SK: sk})
		}
	}
	return &was
}

// formerShop is the shop of an earlier schema.
func formerShop() *catalog.Catalog {
	c := newShop()
	was := func(typ string, fields ...string) *querydb.Model {
		m := formerModel(c.Types[typ].Model, fields...)
		c.Types[typ].Model = m
		return m
	}
	was("Customer", "name", "customerId")
	was("Product", "makerId", "price", "productId", "name").Fields[1].Scalar = "Decimal"
	was("Order", "sold", "total", "placedAt", "orderId", "customerId", "productIds", "status", "margin", "group", "tags")
	was("Track", "note", "status", "changedAt", "orderId").Fields[1].Nullable = true
	was("Invoice", "amount", "invoiceId", "ownerId")
	line := was("Line", "quantity", "shop", "orderId", "category", "productId")
	line.PK.Fields = []int{2, 1}
	line.PK.Layout.Segments = []keys.Segment{line.PK.Layout.Segments[1], line.PK.Layout.Segments[0]}
	return c
}

// newFormerBench is a shop whose rows were written by the program of the former schema.
func newFormerBench(t *testing.T, cfg Config) *bench {
	t.Helper()
	store := &outliving{memstore.New()}
	was := newBenchOf(t, formerShop(), shopSDL, cfg, store)
	was.stock(t)
	b := newBenchOn(t, cfg, store)
	var all []querydb.Served
	for name, typ := range b.catalog.Types {
		all = append(all, querydb.Served{Model: typ.Model, Layout: was.catalog.Types[name].Model.Layout()})
	}
	if err := b.db.Generations().ServeAll(all); err != nil {
		t.Fatal(err)
	}
	return b
}

// outliving is a store that several DBs use one after the other.
type outliving struct{ *memstore.Store }

func (outliving) Close() error { return nil }

// TestRowsOfAFormerSchemaAnswerWhatTheySay: what they say is as if they were of the new schema, and what they do not is
// REBUILDING at its place alone.
func TestRowsOfAFormerSchemaAnswerWhatTheySay(t *testing.T) {
	cfg := Config{AuthOff: true}
	now, was := newBench(t, cfg), newFormerBench(t, cfg)
	now.stock(t)
	for _, test := range []struct {
		query string
		want  []string // errors; without any the answer is the same
	}{
		{`{Customer(id:"c1"){customerId name}}`, nil},
		{`{Customer(id:"nobody"){customerId name}}`, nil},
		{`{Customer(id:"c1"){name note}}`, []string{"REBUILDING Customer.note"}},
		{`{Order(id:"o4"){orderId placedAt total margin tags sold status group productIds customer{name}}}`, nil},
		{`{Order(id:"o4"){orderId products{name maker{name}}}}`, nil},
		{`{Order(id:"o4"){orderId products{productId price}}}`, []string{"REBUILDING Order.products[0].price",
			"REBUILDING Order.products[1].price", "REBUILDING Order.products[2].price"}},
		{`{Order(id:"o4"){orderId referrer{name} customer{name}}}`, []string{"REBUILDING Order.referrer"}},
		{`{OrderByIds(ids:["o4","none","o2","o4"]){orderId total customer{name}}}`, nil},
		{`{InvoiceByIds(ids:["i1","i2"]){subject}}`, []string{"REBUILDING InvoiceByIds[0].subject",
			"REBUILDING InvoiceByIds[1].subject"}},
		{`{OrderByStatus(status:OPEN,limit:3){items{orderId total margin customer{name}}}}`, nil},
		{`{OrderByStatus(status:OPEN,from:"2024-01-03",to:"2024-01-05"){items{orderId}}}`, nil},
		{`{OrderByStatus(status:OPEN,eq:"2024-01-04T10:00:00Z",reverse:true){items{orderId}}}`, nil},
		{`{OrderByStatus(status:OPEN,filter:{total:{gt:5}}){items{orderId}}}`, nil},
		{`{OrderByStatus(status:OPEN,filter:{referrerId:{exists:false}}){items{orderId}}}`,
			[]string{"REBUILDING OrderByStatus"}},
		{`{OrderByStatus(status:OPEN,eq:"nonsense"){items{orderId}}}`, []string{"BAD_USER_INPUT OrderByStatus"}},
		{`{Track(id:"o1"){changedAt}}`, nil},
		{`{Track(id:"o1",changedAt:"2024-01-02T10:00:00Z"){changedAt status note}}`, nil},
		{`{TrackById(id:"o1",prefix:"2024-01-02"){items{changedAt status}}}`, nil},
		{`{Order(id:"o1"){lastTrack{changedAt} placedTrack{status}}}`, nil},
		{`{Order(id:"o1"){orderId referrerTrack{changedAt}}}`, []string{"REBUILDING Order.referrerTrack"}},
		{`{Order(id:"o1"){tracks(from:"2024-01-02",limit:2){items{changedAt status}} sameStatus(limit:2){items{orderId}}}}`,
			nil},
		{`{Order(id:"o1"){orderId bills{items{amount}}}}`, []string{"REBUILDING Order.bills"}},
		{`{Ownership(id:"acc1"){invoices{items{amount}}}}`, nil},
		{`{Invoice(id:"i1"){invoiceId amount}}`, nil},
		{`{Invoice(id:"i1"){subject}}`, []string{"REBUILDING Invoice.subject"}},
		{`{InvoiceByOwnerId(ownerId:"acc1"){items{invoiceId}}}`, nil},
		{`{InvoiceBySubject(subject:"ann"){items{invoiceId}}}`, []string{"REBUILDING InvoiceBySubject"}},
		{`{Line(shop:"s",orderId:"1",category:"toys/x",productId:"z"){quantity}}`, nil},
		{`{Line(id:"s/1",_subId:"toys%2Fx/z"){quantity}}`, nil},
		{`{LineById(shop:"s",orderId:"1",category:"toys"){items{productId}}}`, nil},
		{`{LineById(id:"s/1",from:"books/b",to:"toys"){items{productId}}}`, nil},
		{`{Counter{orders}}`, nil},
	} {
		want, got := now.do(t.Context(), test.query, nil), was.do(t.Context(), test.query, nil)
		if test.want == nil {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: (-of the new schema, +of the former)\n%s", test.query, diff)
			}
		} else if diff := cmp.Diff(test.want, got.Errors); diff != "" {
			t.Errorf("%s: %v\n%s", test.query, got.Data, diff)
		}
	}
	if was.foreign.asked > 0 {
		t.Errorf("%d operations were left to resolvers", was.foreign.asked)
	}
}

// TestAnOwnerWhoIsNotKnownIsNeitherRefusedNorAdmitted, where the former schema did not have the field of the owner.
func TestAnOwnerWhoIsNotKnownIsNeitherRefusedNorAdmitted(t *testing.T) {
	b := newFormerBench(t, Config{})
	for _, test := range []struct {
		ctx   context.Context
		query string
		want  []string
	}{
		{as(t.Context(), "ann"), `{Invoice(id:"i1"){invoiceId}}`, []string{"REBUILDING Invoice"}},
		{as(t.Context(), "bob"), `{Invoice(id:"i1"){invoiceId}}`, []string{"REBUILDING Invoice"}},
		{as(t.Context(), "ann"), `{InvoiceByOwnerId(ownerId:"acc1"){items{invoiceId}}}`,
			[]string{"REBUILDING InvoiceByOwnerId"}},
		{as(t.Context(), "boss", "Admin"), `{Invoice(id:"i1"){invoiceId}}`, nil},
		{t.Context(), `{Invoice(id:"i1"){invoiceId}}`, []string{"UNAUTHENTICATED Invoice"}},
	} {
		if diff := cmp.Diff(test.want, b.do(test.ctx, test.query, nil).Errors); diff != "" {
			t.Errorf("%s\n%s", test.query, diff)
		}
	}
}

// TestAPageTokenEndsWithTheKeysThatItIsOf, and not with the generation.
func TestAPageTokenEndsWithTheKeysThatItIsOf(t *testing.T) {
	b := newFormerBench(t, Config{AuthOff: true})
	token := func() any {
		data := b.do(t.Context(), `{OrderByStatus(status:OPEN,limit:2){nextToken}}`, nil).Data
		return data.(map[string]any)["OrderByStatus"].(map[string]any)["nextToken"]
	}
	next := func(token any) result {
		return b.do(t.Context(), `query($t:String){OrderByStatus(status:OPEN,limit:2,nextToken:$t){items{orderId}}}`,
			map[string]any{"t": token})
	}
	former := token()
	if got := next(former); len(got.Errors) > 0 {
		t.Errorf("of the same keys: %v", got.Errors)
	}
	for _, foreign := range []any{former, "no token of anybody's"} {
		got := b.do(t.Context(), `query($t:String){TrackById(id:"o1",nextToken:$t){items{orderId}}}`,
			map[string]any{"t": foreign})
		if diff := cmp.Diff([]string{"INVALID_TOKEN TrackById"}, got.Errors); diff != "" {
			t.Errorf("%v, of another query: %s", foreign, diff)
		}
	}
	order := b.catalog.Types["Order"].Model
	for generation := range 2 {
		if err := b.db.Generations().Serve(order, generation+1, nil); err != nil {
			t.Fatal(err)
		}
		want := []string{"INVALID_TOKEN OrderByStatus: rebuilt"}
		if diff := cmp.Diff(want, next(former).Errors); diff != "" {
			t.Errorf("of other keys: %s", diff)
		}
	}
}
