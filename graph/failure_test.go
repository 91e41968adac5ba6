package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

func params(i int) *graphql.RawParams {
	return &graphql.RawParams{Query: fmt.Sprintf(`{ Customer(id: "c%d") { name } }`, i)}
}

// TestBadArgumentsAreReportedByCodeAndPath: that of the field, where clients look for an error. The argument is in the
// message.
func TestBadArgumentsAreReportedByCodeAndPath(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	tests := []struct {
		name, query string
		vars        map[string]any
		want        []string
	}{
		{"limit 0", `{ TrackById(id: "o1", limit: 0) { nextToken } }`, nil, []string{"BAD_USER_INPUT TrackById"}},
		{"limit 1001", `{ x: TrackById(id: "o1", limit: 1001) { nextToken } }`, nil, []string{"BAD_USER_INPUT x"}},
		{"limit beyond 32 bits", `query($l: Int) { TrackById(id: "o1", limit: $l) { nextToken } }`,
			map[string]any{"l": math.MaxInt32 + 1}, []string{"BAD_USER_INPUT TrackById: argument limit"}},
		{"eq with prefix", `{ TrackById(id: "o1", eq: "a", prefix: "b") { nextToken } }`, nil,
			[]string{"BAD_USER_INPUT TrackById"}},
		{"prefix with to", `{ TrackById(id: "o1", prefix: "a", to: "b") { nextToken } }`, nil,
			[]string{"BAD_USER_INPUT TrackById"}},
		{"an empty id", `{ TrackById(id: "") { nextToken } }`, nil, []string{"BAD_USER_INPUT TrackById"}},
		{"an empty id of one row", `{ Customer(id: "") { name } }`, nil, []string{"BAD_USER_INPUT Customer"}},
		{"an id too long", `query($id: ID!) { Customer(id: $id) { name } }`,
			map[string]any{"id": strings.Repeat("x", 2049)}, []string{"BAD_USER_INPUT Customer"}},
		{"null for an id", `query($id: ID = "c1") { Customer(id: $id) { name } }`, map[string]any{"id": nil},
			[]string{"BAD_USER_INPUT Customer: argument id"}},
		{"an enum in other case", `query($s: Status!) { OrderByStatus(status: $s) { nextToken } }`,
			map[string]any{"s": "open"}, []string{"BAD_USER_INPUT OrderByStatus: argument status"}},
		{"not a date-time", `{ Track(id: "o1", changedAt: "yesterday") { status } }`, nil,
			[]string{"BAD_USER_INPUT Track: argument changedAt"}},
		{"not a token", `{ TrackById(id: "o1", nextToken: "xyz") { nextToken } }`, nil, []string{"INVALID_TOKEN TrackById"}},
		{"an empty token", `{ TrackById(id: "o1", nextToken: "") { nextToken } }`, nil, []string{"INVALID_TOKEN TrackById"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.do(t.Context(), tt.query, tt.vars)
			if diff := cmp.Diff(tt.want, got.Errors); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStoreErrorsBecomeCodes(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{querydb.ErrThrottled, "UNAVAILABLE"},
		{querydb.ErrUnavailable, "UNAVAILABLE"},
		{context.DeadlineExceeded, "TIMEOUT"},
		{context.Canceled, "UNAVAILABLE"},
		{errors.New("secret detail"), "INTERNAL"},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			b := newBench(t, Config{AuthOff: true})
			b.stock(t)
			b.store.fail = func(context.Context, string) error { return tt.err }
			for query, path := range map[string]string{
				`{ Customer(id: "c1") { name } }`:       "Customer",
				`{ TrackById(id: "o1") { nextToken } }`: "TrackById",
			} {
				got := b.do(t.Context(), query, nil)
				if diff := cmp.Diff([]string{tt.want + " " + path}, got.Errors); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestMessagesKeepInternalsBack(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.store.fail = func(context.Context, string) error { return errors.New("secret detail") }
	op, errs := b.exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), params(1))
	if errs != nil {
		t.Fatal(errs)
	}
	handler, ctx := b.exec.DispatchOperation(t.Context(), op)
	resp := handler(ctx)
	if len(resp.Errors) != 1 || strings.Contains(resp.Errors[0].Message, "secret") {
		t.Errorf("errors %v, wanted one that does not tell the cause", resp.Errors)
	}
	if len(resp.Errors) == 1 && len(resp.Errors[0].Locations) != 1 {
		t.Errorf("locations %v, wanted the field's", resp.Errors[0].Locations)
	}
}

func TestAFailedJoinFailsOnlyItsField(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	b.store.fail = func(_ context.Context, table string) error {
		if table == "Customer" {
			return querydb.ErrUnavailable
		}
		return nil
	}
	got := b.do(t.Context(), `{ Order(id: "o0") { orderId customer { name } products { productId maker { name } } } }`,
		nil)
	want := result{
		Data: wantJSON(t, `{"Order":{"orderId":"o0","customer":null,"products":[{"productId":"p0","maker":null},{"productId":"p1","maker":null},{"productId":"p0","maker":null}]}}`),
		Errors: []string{"UNAVAILABLE Order.customer", "UNAVAILABLE Order.products[0].maker",
			"UNAVAILABLE Order.products[2].maker"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestListsOfAnOperationAreAnsweredAllOrNone: where one of them fails, the others are not in the answer either. A row
// that fails leaves them there.
func TestListsOfAnOperationAreAnsweredAllOrNone(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	for failing, want := range map[string]result{
		`TrackById(id: "")`:     {Errors: []string{"BAD_USER_INPUT failing"}},
		`OrderByIds(ids: [""])`: {Errors: []string{"BAD_USER_INPUT failing"}},
		`Customer(id: "")`: {Data: wantJSON(t, `{"list":{"items":[]},"many":[null],"failing":null}`),
			Errors: []string{"BAD_USER_INPUT failing"}},
	} {
		got := b.do(t.Context(), `{ list: TrackById(id: "none") { items { note } } many: OrderByIds(ids: ["none"]) { orderId }
			failing: `+failing+` { __typename } }`, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", failing, diff)
		}
	}
}

func TestTooManyJoinedRowsAreRefused(t *testing.T) {
	b := newBench(t, Config{AuthOff: true, MaxJoinFanout: 2})
	b.stock(t)
	got := b.do(t.Context(), `{ a: Order(id: "o0") { customer { name } } b: Order(id: "o0") { products { name } } }`, nil)
	want := result{Data: wantJSON(t, `{"a":{"customer":{"name":"Customer 0"}},"b":null}`),
		Errors: []string{"LIMIT_EXCEEDED b.products"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNullsOfStoredRowsBubble(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.put(t, "Customer", row{"customerId": "c1"}, row{"customerId": "c2", "name": "two"})
	b.put(t, "Product", row{"productId": "p1"}, row{"productId": "p2", "name": "two"})
	b.put(t, "Track", row{"orderId": "o1", "changedAt": day(1), "status": "OPEN"},
		row{"orderId": "o1", "changedAt": day(2)})
	b.put(t, "Order", row{"orderId": "o1", "customerId": "c1", "productIds": []string{"p2", "p1"}, "status": "OPEN",
		"placedAt": day(1)})
	tests := []struct {
		name, query string
		want        result
	}{
		{"to the nearest nullable field", `{ Order(id: "o1") { orderId customer { name } } }`,
			result{wantJSON(t, `{"Order":{"orderId":"o1","customer":null}}`), []string{"INTERNAL Order.customer.name"}}},
		{"through lists", `{ Order(id: "o1") { orderId products { name } } }`,
			result{wantJSON(t, `{"Order":null}`), []string{"INTERNAL Order.products[1].name"}}},
		{"to the top", `{ Customer(id: "c2") { name } TrackById(id: "o1") { items { status } } }`,
			result{nil, []string{"INTERNAL TrackById.items[1].status"}}},
		{"not where it is not selected", `{ Customer(id: "c1") { customerId } }`,
			result{wantJSON(t, `{"Customer":{"customerId":"c1"}}`), nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, b.do(t.Context(), tt.query, nil)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.store.fail = func(context.Context, string) error { panic("broken") }
	for _, query := range []string{`{ Customer(id: "c1") { name } }`,
		`{ a: Customer(id: "c1") { name } b: Customer(id: "c1") { name } }`} {
		got := b.do(t.Context(), query, nil)
		if got.Data != nil || len(got.Errors) != 1 {
			t.Errorf("%s: %v, wanted no data and one error", query, got)
		}
	}
	b.store.fail = nil
	b.stock(t)
	want := result{Data: wantJSON(t, `{"Customer":{"name":"Customer 1"}}`)}
	if diff := cmp.Diff(want, b.do(t.Context(), `{ Customer(id: "c1") { name } }`, nil)); diff != "" {
		t.Errorf("afterwards: -want +got:\n%s", diff)
	}
}

func TestRules(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	anyone := t.Context()
	ann, bob, admin, staff := as(anyone, "ann"), as(anyone, "bob"), as(anyone, "root", "Admin"), as(anyone, "eve", "Staff")
	nobody := as(anyone, "")
	tests := []struct {
		name  string
		ctx   context.Context
		query string
		want  string // errors, or data
	}{
		{"a type needs a token", anyone, `{ Invoice(id: "i1") { amount } }`, "UNAUTHENTICATED Invoice"},
		{"a type is for its group", admin, `{ Invoice(id: "i1") { amount } }`, `{"Invoice":{"amount":1}}`},
		{"a group sees that a row is not there", admin, `{ Invoice(id: "none") { amount } }`, `{"Invoice":null}`},
		{"a row is for its owner", ann, `{ Invoice(id: "i1") { amount } }`, `{"Invoice":{"amount":1}}`},
		{"a row is for nobody else", bob, `{ Invoice(id: "i1") { amount } }`, "FORBIDDEN Invoice"},
		{"a stranger does not learn that a row is not there", bob, `{ Invoice(id: "none") { amount } }`, "FORBIDDEN Invoice"},
		{"a token without subject owns nothing", nobody, `{ Invoice(id: "i1") { amount } }`, "FORBIDDEN Invoice"},
		{"an index needs a token", anyone, `{ InvoiceByOwnerId(ownerId: "acc1") { items { amount } } }`,
			"UNAUTHENTICATED InvoiceByOwnerId"},
		{"an index is for its group", admin, `{ InvoiceByOwnerId(ownerId: "acc2") { items { amount } } }`,
			`{"InvoiceByOwnerId":{"items":[{"amount":3},{"amount":4}]}}`},
		{"an index is for the owner of the key", ann, `{ InvoiceByOwnerId(ownerId: "acc1") { items { amount } } }`,
			`{"InvoiceByOwnerId":{"items":[{"amount":1},{"amount":2}]}}`},
		{"to the owner of a key rows of others are as missing", bob,
			`{ InvoiceByOwnerId(ownerId: "acc2") { items { amount } } }`, `{"InvoiceByOwnerId":{"items":[{"amount":3}]}}`},
		{"an index is for nobody else", bob, `{ InvoiceByOwnerId(ownerId: "acc1") { items { amount } } }`,
			"FORBIDDEN InvoiceByOwnerId"},
		{"nobody owns an unknown key", bob, `{ InvoiceByOwnerId(ownerId: "none") { items { amount } } }`,
			"FORBIDDEN InvoiceByOwnerId"},
		{"own rows go through an index on the owner", ann, `{ InvoiceBySubject(subject: "ann") { items { amount } } }`,
			`{"InvoiceBySubject":{"items":[{"amount":1},{"amount":2},{"amount":4}]}}`},
		{"an own list may be empty", staff, `{ InvoiceBySubject(subject: "eve") { items { amount } } }`,
			`{"InvoiceBySubject":{"items":[]}}`},
		{"another's list is closed though it is empty", ann, `{ InvoiceBySubject(subject: "eve") { items { amount } } }`,
			"FORBIDDEN InvoiceBySubject"},
		{"joins heed the rule of the type", ann, `{ Invoice(id: "i1") { bill { amount } } }`,
			`{"Invoice":{"bill":{"amount":1}}}`},
		{"a guarded field is null without its group", ann, `{ Order(id: "o1") { orderId margin } }`,
			`FORBIDDEN Order.margin {"Order":{"orderId":"o1","margin":null}}`},
		{"a guarded field needs a token", anyone, `{ Order(id: "o1") { margin } }`,
			`UNAUTHENTICATED Order.margin {"Order":{"margin":null}}`},
		{"a guarded field is for its group", staff, `{ Order(id: "o1") { margin } }`, `{"Order":{"margin":1}}`},
		{"the rest is public", anyone, `{ Order(id: "o1") { orderId } }`, `{"Order":{"orderId":"o1"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			errs, data, found := strings.Cut(tt.want, "{")
			var want result
			if found {
				want.Data = wantJSON(t, "{"+data)
			} else if name := errs[strings.Index(errs, " ")+1:]; name == "Invoice" {
				want.Data = map[string]any{"Invoice": nil}
			}
			if errs = strings.TrimSpace(errs); errs != "" {
				want.Errors = []string{errs}
			}
			if diff := cmp.Diff(want, b.do(tt.ctx, tt.query, nil)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestJoinsToATypeUnderARule(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	b.catalog.Types["Customer"].Rule = &catalog.Rule{Groups: []string{"Staff"}}
	const query = `{ OrderByStatus(status: OPEN, limit: 2) { items { customer { name } } } }`
	refused := wantJSON(t, `{"OrderByStatus":{"items":[{"customer":null},{"customer":null}]}}`)
	for _, tt := range []struct {
		ctx  context.Context
		want result
	}{
		{t.Context(), result{refused, []string{"UNAUTHENTICATED OrderByStatus.items[0].customer",
			"UNAUTHENTICATED OrderByStatus.items[1].customer"}}},
		{as(t.Context(), "eve"), result{refused, []string{"FORBIDDEN OrderByStatus.items[0].customer",
			"FORBIDDEN OrderByStatus.items[1].customer"}}},
		{as(t.Context(), "eve", "Staff"),
			result{wantJSON(t, `{"OrderByStatus":{"items":[{"customer":{"name":"Customer `+
				`0"}},{"customer":{"name":"Customer 3"}}]}}`), nil}},
	} {
		b.store.reset()
		if diff := cmp.Diff(tt.want, b.do(tt.ctx, query, nil)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if tt.want.Errors != nil && b.store.gets.Load() != 0 {
			t.Error("rows that nobody may see were read")
		}
	}
	if got := b.do(t.Context(), `{ Customer(id: "none") { name } }`, nil); !slices.Equal(got.Errors,
		[]string{"UNAUTHENTICATED Customer"}) {
		t.Errorf("got %v", got)
	}
}

func TestJoinsThroughAnIndexHeedItsRule(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	invoice := b.catalog.Types["Invoice"]
	invoice.Rule = nil
	invoice.Fields["bill"] = &catalog.Field{Name: "bill", Ordinal: 1, Join: &catalog.Join{Target: "Invoice", Index: 0}}
	const query = `{ Invoice(id: "i1") { bill { amount } } }`
	for _, tt := range []struct {
		ctx  context.Context
		data string
		errs []string
	}{
		{t.Context(), `{"Invoice":{"bill":null}}`, []string{"UNAUTHENTICATED Invoice.bill"}},
		{as(t.Context(), "bob"), `{"Invoice":{"bill":null}}`, []string{"FORBIDDEN Invoice.bill"}},
		{as(t.Context(), ""), `{"Invoice":{"bill":null}}`, []string{"FORBIDDEN Invoice.bill"}},
		{as(t.Context(), "ann"), `{"Invoice":{"bill":{"amount":1}}}`, nil},
		{as(t.Context(), "root", "Admin"), `{"Invoice":{"bill":{"amount":1}}}`, nil},
	} {
		if diff := cmp.Diff(result{wantJSON(t, tt.data), tt.errs}, b.do(tt.ctx, query, nil)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		_, err := JoinOne(tt.ctx, b.rt, "Invoice", "bill", b.codec("Invoice"), keys.String("acc1"))
		if (err != nil) != (tt.errs != nil) {
			t.Errorf("the resolver returned %v, wanted %v", err, tt.errs)
		}
	}
}

func TestAuthOffLiftsEveryRule(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	got := b.do(t.Context(), `{ Invoice(id: "i1") { amount } InvoiceByOwnerId(ownerId: "acc1") { items { amount } } `+
		`Order(id: "o1") { margin } }`, nil)
	want := result{Data: wantJSON(t,
		`{"Invoice":{"amount":1},"InvoiceByOwnerId":{"items":[{"amount":1},{"amount":2}]},"Order":{"margin":1}}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
