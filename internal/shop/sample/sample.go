// Package sample makes the events of a shop that never was: the same ones every time, as many as asked for.
//
// `make run` serves what these events fold into, and the benchmarks measure on a larger size of the same.
package sample

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// Size says how much happened.
type Size struct {
	Customers, Products, Orders int
	// Statuses is how many rows of status an order has in the end, the first included; at most 5.
	Statuses int
	// Lines is how many products an order has.
	Lines int
}

// Small is the shop that `make run` shows.
var Small = Size{Customers: 100, Products: 60, Orders: 300, Statuses: 5, Lines: 3}

var (
	begin      = time.Date(2024, time.January, 15, 10, 30, 0, 0, time.UTC)
	statuses   = []string{"placed", "paid", "packed", "shipped", "delivered"}
	groups     = []string{"retail", "wholesale", "staff", "partner"}
	categories = []string{"electronics", "books", "garden", "kitchen", "toys"}
	brands     = []string{"Acme", "Borea", "Cirrus", "Delta", "Ember"}
	suppliers  = []string{"North Ltd", "South GmbH", "East SA"}
	names      = []string{"Ada", "Björk", "Chen", "Dalia", "Emeka", "Fatima", "Goran", "Hana", "Ivo", "Jun"}
)

// Events yields the events in the order in which they happened.
func Events(size Size) iter.Seq[eventlog.Event] {
	return func(yield func(eventlog.Event) bool) {
		s := &shop{rnd: rand.New(rand.NewPCG(1, 2)), yield: yield, now: begin}
		_ = s.customers(size.Customers) && s.products(size.Products) &&
			s.orders(size) && s.deployments() && s.bills(size.Customers)
	}
}

// shop is the state of the generator; its methods return false when the consumer has had enough.
type shop struct {
	rnd   *rand.Rand
	yield func(eventlog.Event) bool
	now   time.Time
}

type data map[string]any

// emit yields one event; each happens a little after the one before.
func (s *shop) emit(source, kind, subject string, d data) bool {
	body, err := json.Marshal(d)
	if err != nil {
		panic(err) // maps of strings and numbers always have a JSON form
	}
	return s.yield(eventlog.Event{
		ID:      fmt.Sprintf("%s/%s@%d", subject, kind, s.now.UnixMilli()),
		Source:  source,
		Type:    kind,
		Subject: subject,
		Time:    s.now,
		Data:    body,
	})
}

// tick lets time pass and returns it as events write it.
func (s *shop) tick() string {
	s.now = s.now.Add(time.Duration(1+s.rnd.IntN(90_000)) * time.Millisecond)
	return s.now.Format("2006-01-02T15:04:05.000Z07:00")
}

func pick(s *shop, from []string) string { return from[s.rnd.IntN(len(from))] }

// CustomerID and the like name the things of the shop by number, from 0.
func CustomerID(n int) string { return fmt.Sprintf("cust-%d", n) }

// ProductID names a product.
func ProductID(n int) string { return fmt.Sprintf("prod-%d", n) }

// OrderID names an order.
func OrderID(n int) string { return fmt.Sprintf("order-%d", n) }

func (s *shop) customers(n int) bool {
	for i := range n {
		name := pick(s, names)
		at := s.tick()
		if !s.emit("/shop/customers", "CustomerRegistered", CustomerID(i), data{
			"customerId": CustomerID(i), "name": fmt.Sprintf("%s %d", name, i),
			"email": fmt.Sprintf("customer%d@example.com", i), "group": group(i), "registeredAt": at,
		}) {
			return false
		}
	}
	return true
}

func (s *shop) products(n int) bool {
	for i := range n {
		at := s.tick()
		d := data{
			"productId": ProductID(i), "category": category(i), "brand": pick(s, brands),
			"name": fmt.Sprintf("%s no. %d", category(i), i), "price": price(s), "addedAt": at,
		}
		if i%4 != 0 {
			d["supplier"] = pick(s, suppliers)
		}
		if !s.emit("/shop/products", "ProductAdded", ProductID(i), d) {
			return false
		}
	}
	return true
}

func group(customer int) string   { return groups[customer%len(groups)] }
func category(product int) string { return categories[product%len(categories)] }
func price(s *shop) float64       { return float64(100+s.rnd.IntN(20_000)) / 100 }

// placed is an order on its way.
type placed struct {
	id    string
	total float64
	step  int
}

// orders places the orders one after the other and, in between, moves earlier ones on.
func (s *shop) orders(size Size) bool {
	var open []placed
	for i := range size.Orders {
		o := placed{id: OrderID(i), step: 1}
		if !s.place(&o, size) {
			return false
		}
		open = append(open, o)
		for len(open) > 40 {
			if open = s.move(open, size.Statuses); open == nil {
				return false
			}
		}
	}
	for len(open) > 0 {
		if open = s.move(open, size.Statuses); open == nil {
			return false
		}
	}
	return true
}

func (s *shop) place(o *placed, size Size) bool {
	customer := s.rnd.IntN(size.Customers)
	at := s.tick()
	first := s.rnd.IntN(size.Products)
	lines := make([]data, size.Lines)
	for l := range lines {
		p := (first + l*7) % size.Products
		quantity := 1 + s.rnd.IntN(4)
		lines[l] = data{"productId": ProductID(p), "category": category(p), "quantity": quantity}
		o.total += float64(quantity) * price(s)
	}
	o.total = float64(int(o.total*100)) / 100
	return s.emit("/shop/orders", "OrderPlaced", o.id, data{
		"orderId": o.id, "customerId": CustomerID(customer), "customerGroup": group(customer),
		"lines": lines, "total": o.total, "placedAt": at,
	})
}

// move gives one of the open orders its next status and returns those still open, nil when the consumer has had enough.
func (s *shop) move(open []placed, last int) []placed {
	i := s.rnd.IntN(len(open))
	o := &open[i]
	if o.step < last {
		at := s.tick()
		if !s.emit("/shop/orders", "OrderStatusChanged", o.id, data{
			"orderId": o.id, "status": statuses[o.step], "total": o.total, "changedAt": at,
		}) {
			return nil
		}
		o.step++
	}
	if o.step >= last {
		open[i] = open[len(open)-1]
		open = open[:len(open)-1]
	}
	return open
}

func (s *shop) deployments() bool {
	for _, env := range []string{"prod", "staging"} {
		for _, plugin := range []string{"billing", "catalog", "orders"} {
			at := s.tick()
			if !s.emit("/ops", "PluginDeployed", env+"/"+plugin, data{
				"environment": env, "pluginName": plugin,
				"version": fmt.Sprintf("1.%d.0", s.rnd.IntN(20)), "deployedAt": at,
			}) {
				return false
			}
		}
	}
	return true
}

// bills opens an account for each of the first customers, and sends it bills.
func (s *shop) bills(customers int) bool {
	for i := range min(customers, 10) {
		owner, subject := fmt.Sprintf("acct-%d", i), fmt.Sprintf("user-%d", i)
		s.tick()
		if !s.emit("/billing", "AccountOpened", owner, data{"ownerId": owner, "subject": subject}) {
			return false
		}
		for n := range 3 {
			s.tick()
			id := fmt.Sprintf("inv-%d-%d", i, n)
			if !s.emit("/billing", "InvoiceIssued", id, data{
				"invoiceId": id, "ownerId": owner, "subject": subject,
				"amount": fmt.Sprintf("%.2f", price(s)), "issuedOn": s.now.Format(time.DateOnly), "paid": n == 0,
			}) {
				return false
			}
		}
	}
	return true
}
