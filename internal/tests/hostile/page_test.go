package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// asked is a query with pages, without limit and token, and who asks.
type asked struct {
	name, arguments string
	by              caller
}

// pageToken is a token of the shop, and the query that it continues.
type pageToken struct {
	asked
	token string
}

// document continues the query after a token, "" for the first page.
func (q asked) document(limit int, token string) string {
	after := ""
	if token != "" {
		after = ", nextToken: " + quoted(token)
	}
	return fmt.Sprintf("{p: %s(%s, limit: %d%s) { items { __typename } nextToken } }", q.name, q.arguments, limit, after)
}

// paged are queries of which no two mean the same.
var paged = []asked{
	{name: "Sales_ProductByCategory", arguments: `category: "books"`},
	{name: "Sales_ProductByCategory", arguments: `category: "toys"`},
	{name: "Sales_ProductByCategory", arguments: `category: "books", reverse: true`},
	{name: "Sales_ProductByCategoryNewest", arguments: `category: "books"`},
	{name: "Sales_ProductByCategoryNewest", arguments: `category: "books", from: "2024"`},
	{name: "Sales_ProductByBrand", arguments: `brand: "Acme"`},
	{name: "Sales_ProductBySupplier", arguments: `supplier: "East SA"`},
	{name: "Sales_OrderByCustomerGroup", arguments: `customerGroup: "staff"`},
	{name: "Sales_OrderByCustomerGroup", arguments: `customerGroup: "staff", prefix: "2024-01"`},
	{name: "Sales_OrderByCustomerGroup", arguments: `customerGroup: "staff", reverse: true`},
	{name: "Sales_OrderHistoryById", arguments: `id: "order-5"`},
	{name: "Sales_OrderTrackingById", arguments: `id: "order-5"`},
	{name: "Sales_OrderTrackingById", arguments: `id: "order-6"`},
	{name: "Sales_OrderTrackingByStatus", arguments: `status: "paid"`},
	{name: "Sales_OrderVersionById", arguments: `id: "order-5"`},
	{name: "Ops_DeploymentByEnvironment", arguments: `environment: "prod"`},
	{name: "Billing_InvoiceByOwnerId", arguments: `ownerId: "acct-3"`},
}

// harvest walks the first pages of every query, as every caller who may, and returns the tokens.
func harvest(h http.Handler) ([]pageToken, error) {
	var all []pageToken
	for _, q := range paged {
		before := len(all)
		for _, q.by = range callers {
			token := ""
			for range 3 {
				a := post("harvest", q.document(1, token), "").as(q.by).send(h)
				next, err := nextToken(a)
				if err != nil {
					return nil, fmt.Errorf("%s(%s): %w", q.name, q.arguments, err)
				}
				if next == "" {
					break
				}
				all = append(all, pageToken{q, next})
				token = next
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s(%s) has one page only: nothing to attack", q.name, q.arguments)
		}
	}
	return all, nil
}

// nextToken reads the token of an answer to a harvest; none where the caller may not ask.
func nextToken(a *answer) (string, error) {
	var got struct {
		Data   *struct{ P struct{ NextToken string } }
		Errors []struct{ Extensions struct{ Code string } }
	}
	if err := json.Unmarshal(a.body.Bytes(), &got); err != nil {
		return "", err
	}
	if len(got.Errors) > 0 {
		if code := got.Errors[0].Extensions.Code; code != "UNAUTHENTICATED" && code != "FORBIDDEN" {
			return "", fmt.Errorf("answered %s", a.body.String())
		}
		return "", nil
	}
	return got.Data.P.NextToken, nil
}

// page makes a request with a page token, which must be the right one there or be refused.
func (a *attacker) page(d dice) *request {
	t := pick(d, a.pages)
	q, token := t.asked, t.token
	kind, want := "page/mutated", invalidToken
	switch n := d.IntN(10); {
	case n < 3:
		kind, want = "page/genuine", answered
	case n < 6:
		kind = "page/foreign"
		for q == t.asked {
			q = pick(d, a.pages).asked
		}
	case n == 6:
		other := pick(d, a.pages).token
		token = token[:d.IntN(len(token))] + other[d.IntN(len(other)):]
	default:
		token = d.changed(token)
	}
	if kind == "page/mutated" && (a.genuine[token] || token == "") {
		token += "A"
	}
	if !utf8.ValidString(token) {
		want = nil // the request is refused before anybody looks at the token
	}
	limit := 1 + d.IntN(30)
	r := post(kind, q.document(limit, token), "")
	if d.chance(50) {
		doc := fmt.Sprintf("query($t: String) {p: %s(%s, limit: %d, nextToken: $t) { items { __typename } nextToken } }",
			q.name, q.arguments, limit)
		r = post(kind, doc, `{"t":`+quoted(token)+"}")
	}
	r.want = want
	return r.as(q.by)
}
