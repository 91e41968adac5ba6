package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/shop/sample"
)

// Size is the shop that the queries are asked of.
var Size = sample.Size{Customers: 10_000, Products: 5_000, Orders: 20_000, Statuses: 5, Lines: 5}

// Question is one query of the workload: its document, and the variables of one request.
type Question struct {
	Name, Asks string
	document   string
	variables  func(rnd *rand.Rand) any
}

// variables of all questions, as a hand-written handler would declare them.
type variables struct {
	ID     string   `json:"id,omitempty"`
	IDs    []string `json:"ids,omitempty"`
	From   string   `json:"from,omitempty"`
	To     string   `json:"to,omitempty"`
	Status string   `json:"status,omitempty"`
	Group  string   `json:"group,omitempty"`
}

// Values of the rows of the shop that the questions ask for.
var (
	// Statuses are those of an order, in the order in which it has them.
	Statuses = []string{"placed", "paid", "packed", "shipped", "delivered"}
	groups   = []string{"retail", "wholesale", "staff", "partner"}
)

func anOrder(rnd *rand.Rand) any { return variables{ID: sample.OrderID(rnd.IntN(Size.Orders))} }

// Questions are those of the workload, each with what draws the variables of a request.
var Questions = []Question{
	{"Q1", "one row",
		`query Q1($id: ID!) { Sales_Order(id: $id) { orderId customerId customerGroup total placedAt } }`,
		anOrder},
	{"Q2", "five rows of an order, newest first",
		`query Q2($id: ID!) { Sales_OrderTrackingById(id: $id, reverse: true, limit: 5) { items { orderId changedAt ` +
			`customerId status total } } }`,
		anOrder},
	{"Q3", "rows of an order between two times",
		`query Q3($id: ID!, $from: String, $to: String) { Sales_OrderTrackingById(id: $id, from: $from, to: $to) { items { ` +
			`orderId changedAt status total } } }`,
		func(rnd *rand.Rand) any {
			from := time.Date(2024, time.January, 15, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rnd.IntN(60))
			return variables{
				ID:   sample.OrderID(rnd.IntN(Size.Orders)),
				From: from.Format(time.RFC3339), To: from.AddDate(0, 0, 30).Format(time.RFC3339),
			}
		}},
	{"Q4", "20 orders of a status, newest first, each with its customer",
		`query Q4($status: String!) { Sales_OrderTrackingByStatus(status: $status, reverse: true, limit: 20) { items { ` +
			`orderId changedAt total customer { name email } } } }`,
		func(rnd *rand.Rand) any { return variables{Status: Statuses[rnd.IntN(len(Statuses))]} }},
	{"Q5", "an order with its 5 products",
		`query Q5($id: ID!) { Sales_Order(id: $id) { orderId products { productId name price } } }`,
		anOrder},
	{"Q6", "50 orders of a customer group with their products",
		`query Q6($group: String!) { Sales_OrderByCustomerGroup(customerGroup: $group, limit: 50) { items { orderId total ` +
			`products { productId name price } } } }`,
		func(rnd *rand.Rand) any { return variables{Group: groups[rnd.IntN(len(groups))]} }},
	{"Q7", "20 customers with the 5 newest orders of each, and 3 lines of each order",
		`query Q7($ids: [ID!]!) { Sales_CustomerByIds(ids: $ids) { customerId name orders(reverse: true, limit: 5) { items { ` +
			`orderId placedAt total lines(limit: 3) { items { category productId quantity } } } } } }`,
		func(rnd *rand.Rand) any {
			busy, v := busyCustomers(), variables{}
			for range 20 {
				v.IDs = append(v.IDs, busy[rnd.IntN(len(busy))])
			}
			return v
		}},
}

// Skewed are questions whose keys have a Zipf distribution: few are asked for often, and most hardly ever.
func Skewed() (questions []Question) {
	for _, q := range Questions {
		if q.Name != "Q1" && q.Name != "Q2" && q.Name != "Q5" {
			continue
		}
		q.variables = func(rnd *rand.Rand) any {
			const apart = 7919 // so that those that are asked for often do not lie beside each other
			order := rand.NewZipf(rnd, 1.01, 1, uint64(Size.Orders-1)).Uint64()
			return variables{ID: sample.OrderID(int(order) * apart % Size.Orders)}
		}
		questions = append(questions, q)
	}
	return questions
}

// busyCustomers have five orders or more.
var busyCustomers = sync.OnceValue(func() (ids []string) {
	orders := map[string]int{}
	for e := range sample.Events(Size) {
		if e.Type != "OrderPlaced" {
			continue
		}
		var placed struct {
			CustomerID string `json:"customerId"`
		}
		if err := json.Unmarshal(e.Data, &placed); err != nil {
			panic(err) // the sample is made of JSON
		}
		if orders[placed.CustomerID]++; orders[placed.CustomerID] == 5 {
			ids = append(ids, placed.CustomerID)
		}
	}
	return ids
})

// Body makes the body of one request.
func (q Question) Body(rnd *rand.Rand) []byte {
	body, err := json.Marshal(map[string]any{"query": q.document, "variables": q.variables(rnd)})
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return body
}

// Requests prepares n requests of a question, the same ones for every peer. A hand-written handler has a path per
// question; it gets the same body.
func (q Question) Requests(path string, n int) [][]byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	all := make([][]byte, n)
	for i := range all {
		all[i] = post(path, q.Body(rnd))
	}
	return all
}

// post makes the bytes of a POST request.
func post(path string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: "+
		"application/json\r\n"+
		"Content-Length: %d\r\n\r\n", path, len(body))
	b.Write(body)
	return b.Bytes()
}

// Bodies are those of n requests.
func (q Question) Bodies(n int) [][]byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	all := make([][]byte, n)
	for i := range all {
		all[i] = q.Body(rnd)
	}
	return all
}
