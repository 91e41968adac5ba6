package hostile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// member is one of a JSON object, its value as JSON.
type member struct{ name, value string }

type object []member

func (o object) String() string {
	list := make([]string, len(o))
	for i, m := range o {
		list[i] = quoted(m.name) + ":" + m.value
	}
	return "{" + strings.Join(list, ",") + "}"
}

// set replaces the value of a member, or adds it.
func (o object) set(name, value string) object {
	for i := range o {
		if o[i].name == name {
			o = slices.Clone(o)
			o[i].value = value
			return o
		}
	}
	return append(slices.Clone(o), member{name, value})
}

// draft is an event that is to be sent: its attributes, and its data.
type draft struct{ attributes, data object }

func (e draft) String() string { return e.attributes.set("data", e.data.String()).String() }

// event makes a good event of the shop, the same one for the same number.
func (a *attacker) event(number uint64) draft {
	d := newDice(a.seed, 1<<40+number)
	kind := pick(d, makers)
	id, data := kind.data(d)
	return draft{data: data, attributes: object{
		{"specversion", `"1.0"`}, {"id", quoted("h-" + strconv.FormatUint(number, 10))}, {"source", quoted(kind.source)},
		{"type", quoted(kind.name)}, {"subject", quoted(id)}, {"time", quoted(instant(d))},
	}}
}

func instant(d dice) string { return (&author{dice: d}).instant() }

// maker makes data of one type of event. Accounts and bills get ids of their own, so that the bills of the sample stay
// what they are and may be asked for.
type maker struct {
	name, source string
	data         func(dice) (id string, data object)
}

var makers = []maker{
	{"CustomerRegistered", "/shop/customers", func(d dice) (string, object) {
		id := thing(d, "cust", 120)
		return id, object{{"customerId", quoted(id)}, {"name", word(d)}, {"email", word(d)}, {"group", word(d)},
			{"registeredAt", quoted(instant(d))}}
	}},
	{"ProductAdded", "/shop/products", func(d dice) (string, object) {
		id := thing(d, "prod", 80)
		data := object{
			{"productId", quoted(id)}, {"category", oneOf(d, "category")}, {"brand", oneOf(d, "brand")}, {"name", word(d)},
			{"price", number(d)}, {"addedAt", quoted(instant(d))},
		}
		if d.chance(50) {
			data = append(data, member{"supplier", pick(d, []string{"null", oneOf(d, "supplier")})})
		}
		return id, data
	}},
	{"ProductRepriced", "/shop/products", func(d dice) (string, object) {
		id := thing(d, "prod", 80)
		return id, object{{"productId", quoted(id)}, {"price", number(d)}}
	}},
	{"ProductRemoved", "/shop/products", func(d dice) (string, object) {
		id := thing(d, "gone", 80) // the products of the sample stay
		return id, object{{"productId", quoted(id)}}
	}},
	{"OrderPlaced", "/shop/orders", func(d dice) (string, object) {
		id := thing(d, "order", 400)
		lines := make([]string, d.IntN(4))
		for i := range lines {
			lines[i] = object{{"productId", quoted(thing(d, "prod", 80))}, {"category", oneOf(d, "category")},
				{"quantity", strconv.Itoa(d.IntN(9))}}.String()
		}
		return id, object{
			{"orderId", quoted(id)}, {"customerId", quoted(thing(d, "cust", 120))}, {"customerGroup", oneOf(d, "customerGroup")},
			{"lines", "[" + strings.Join(lines, ",") + "]"}, {"total", number(d)}, {"placedAt", quoted(instant(d))},
		}
	}},
	{"OrderLineRemoved", "/shop/orders", func(d dice) (string, object) {
		id := thing(d, "order", 400)
		return id, object{{"orderId", quoted(id)}, {"category", oneOf(d, "category")},
			{"productId", quoted(thing(d, "prod", 80))}}
	}},
	{"OrderStatusChanged", "/shop/orders", func(d dice) (string, object) {
		id := thing(d, "order", 400)
		return id, object{{"orderId", quoted(id)}, {"status", oneOf(d, "status")}, {"total", number(d)},
			{"changedAt", quoted(instant(d))}}
	}},
	{"PluginDeployed", "/ops", func(d dice) (string, object) {
		return "deployments", object{{"environment", oneOf(d, "environment")}, {"pluginName", word(d)},
			{"version", word(d)}, {"deployedAt", quoted(instant(d))}}
	}},
	{"AccountOpened", "/billing", func(d dice) (string, object) {
		id := thing(d, "ledger", 50)
		return id, object{{"ownerId", quoted(id)}, {"subject", word(d)}}
	}},
	{"InvoiceIssued", "/billing", func(d dice) (string, object) {
		id := thing(d, "bill", 90)
		return id, object{
			{"invoiceId", quoted(id)}, {"ownerId", quoted(thing(d, "ledger", 50))}, {"subject", word(d)},
			{"amount", quoted(number(d))}, {"issuedOn", quoted(instant(d)[:10])}, {"paid", pick(d, []string{"true", "false"})},
		}
	}},
}

func thing(d dice, of string, n int) string {
	if d.chance(4) {
		return of + d.text()
	}
	return of + "-" + strconv.Itoa(d.IntN(n))
}

func word(d dice) string {
	if d.chance(20) {
		return quoted(d.text())
	}
	return quoted(pick(d, []string{"Ada", "Björk", "retail", "staff", "1.2.0", "billing", "x@example.com"}))
}

func oneOf(d dice, field string) string {
	if d.chance(5) {
		return quoted(d.text())
	}
	return quoted(pick(d, named[field]))
}

func number(d dice) string {
	if d.chance(10) {
		return pick(d, []string{"0", "-1", "0.0001", "123456789012345", "1e20", "99999999999.99"})
	}
	return fmt.Sprintf("%d.%02d", d.IntN(500), d.IntN(100))
}
