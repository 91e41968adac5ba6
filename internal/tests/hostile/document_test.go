package hostile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/shop/sample"
)

// document is a query with the variables that it needs, as JSON, "" for none.
type document struct{ text, variables string }

// author writes documents that the schema allows, at random.
type author struct {
	dice
	schema    *ast.Schema
	wild      int  // in a hundred: how many values are hostile
	open      bool // nothing that is not for everybody
	variables []variable
	fragments []string
	names     int
}

// variable is one of a document: its declaration, and its value as JSON.
type variable struct{ declared, value string }

// write returns a document of a few queries.
func (a *author) write() document {
	var body strings.Builder
	roots := 1
	if a.chance(25) {
		roots += a.IntN(3)
	}
	if a.chance(1) {
		body.WriteString(pick(a.dice, introspections))
	}
	for range roots {
		a.root(&body, pick(a.dice, a.queries()))
	}
	return a.assemble(body.String())
}

var introspections = []string{
	"__schema { queryType { name } directives { name args { name type { kind ofType { name } } } } } ",
	`__type(name: "Order") { name fields(includeDeprecated: true) { name type { kind name ofType { name } } } } `,
	`__type(name: "Nobody") { name } `, "__typename ", "__schema { types { name kind } } ",
}

// queries returns the fields of the root that may be asked.
func (a *author) queries() ast.FieldList {
	var list ast.FieldList
	for _, f := range a.schema.Query.Fields {
		if !strings.HasPrefix(f.Name, "__") && !(a.open && strings.HasPrefix(f.Name, "Billing_Invoice")) {
			list = append(list, f)
		}
	}
	return list
}

// assemble puts operation, variables and fragments together.
func (a *author) assemble(body string) document {
	var d document
	head := ""
	if len(a.variables) > 0 || a.chance(30) {
		head = "query Q" + strconv.Itoa(a.IntN(5))
	}
	declared, values := make([]string, len(a.variables)), make([]string, len(a.variables))
	for i, v := range a.variables {
		declared[i], values[i] = fmt.Sprintf("$v%d: %s", i, v.declared), fmt.Sprintf("\"v%d\": %s", i, v.value)
	}
	if len(declared) > 0 {
		head += "(" + strings.Join(declared, ", ") + ")"
		d.variables = "{" + strings.Join(values, ", ") + "}"
	}
	d.text = head + " { " + body + "}" + strings.Join(a.fragments, "")
	return d
}

// root writes one query. Every one has an alias, so that two of one name can stand together.
func (a *author) root(b *strings.Builder, f *ast.FieldDefinition) {
	a.names++
	fmt.Fprintf(b, "r%d: %s", a.names, f.Name)
	a.arguments(b, f)
	a.directive(b)
	a.selection(b, a.schema.Types[f.Type.Name()], 3)
}

// arguments writes those that are needed and some of the others; of the operands one group at most.
func (a *author) arguments(b *strings.Builder, f *ast.FieldDefinition) {
	group := pick(a.dice, [][]string{nil, nil, {"eq"}, {"prefix"}, {"from", "to"}, {"from"}, {"to"}})
	if a.wild > 0 && a.chance(10) {
		group = []string{"eq", "prefix", "from", "to"}
	}
	var args []string
	for _, def := range f.Arguments {
		wanted := def.Type.NonNull
		switch def.Name {
		case "eq", "prefix", "from", "to":
			for _, name := range group {
				wanted = wanted || name == def.Name
			}
		case "nextToken":
			wanted = a.chance(a.wild / 3)
		case "id":
			wanted = true
		default:
			wanted = wanted || a.chance(30)
		}
		if slices.Contains(parts[f.Name], def.Name) { // they stand for the key, which is given whole
			wanted = a.chance(a.wild / 3)
		}
		if wanted {
			args = append(args, def.Name+": "+a.argument(f.Name, def))
		}
	}
	if len(args) > 0 {
		b.WriteString("(" + strings.Join(args, ", ") + ")")
	}
}

// argument returns a literal, or a variable that has it.
func (a *author) argument(query string, def *ast.ArgumentDefinition) string {
	if def.Name == "filter" && !a.chance(a.wild) {
		f := pick(a.dice, filters)
		if a.chance(30) {
			return a.variable(def.Type.String(), f.json)
		}
		return f.literal
	}
	if def.Name == "keys" && !a.chance(a.wild) {
		literal, json := a.keys(query, a.schema.Types[def.Type.Name()])
		if a.chance(30) {
			return a.variable(def.Type.String(), json)
		}
		return literal
	}
	value := a.value(query, def)
	if a.chance(a.wild) {
		value = a.hostile()
	}
	if !a.chance(30) {
		return value
	}
	if a.wild == 0 {
		return a.variable(def.Type.String(), value)
	}
	if a.chance(a.wild) {
		value = a.hostileJSON()
	}
	return a.variable(pick(a.dice, []string{def.Type.String(), def.Type.String(), "String", "[Int!]", "ID!", "Nobody"}),
		value)
}

// keys returns a list of keys of several fields, as documents have it and as variables do.
func (a *author) keys(query string, key *ast.Definition) (literal, json string) {
	literals, jsons := make([]string, a.IntN(6)), make([]string, 0, 6)
	for i := range literals {
		var inDocument, inVariable []string
		for _, f := range key.Fields {
			value := a.keyPart(query, f.Name)
			inDocument = append(inDocument, f.Name+": "+value)
			inVariable = append(inVariable, quoted(f.Name)+": "+value)
		}
		literals[i] = "{" + strings.Join(inDocument, ", ") + "}"
		jsons = append(jsons, "{"+strings.Join(inVariable, ", ")+"}")
	}
	return "[" + strings.Join(literals, ", ") + "]", "[" + strings.Join(jsons, ", ") + "]"
}

// keyPart is a value of a field of a key.
func (a *author) keyPart(query, field string) string {
	switch field {
	case "orderId":
		return quoted(a.id(query))
	case "timestamp", "changedAt":
		return quoted(a.instant())
	}
	return quoted(pick(a.dice, named[field]))
}

func (a *author) variable(declared, value string) string {
	a.variables = append(a.variables, variable{declared, value})
	return "$v" + strconv.Itoa(len(a.variables)-1)
}

// filters of products, as documents have them and as variables do.
var filters = []struct{ literal, json string }{
	{`{}`, `{}`},
	{`{price: {le: 50}}`, `{"price": {"le": 50}}`},
	{`{name: {contains: "o"}, price: {exists: true}}`, `{"name": {"contains": "o"}, "price": {"exists": true}}`},
	{`{or: [{price: {between: [1, 9.5]}}, {not: {name: {beginsWith: "b"}}}]}`,
		`{"or": [{"price": {"between": [1, 9.5]}}, {"not": {"name": {"beginsWith": "b"}}}]}`},
	{`{and: [{price: {in: []}}, {name: {ne: ""}}]}`, `{"and": [{"price": {"in": []}}, {"name": {"ne": ""}}]}`},
}

// dated are the queries whose operands are times.
var dated = map[string]bool{
	"Sales_ProductByCategoryNewest": true, "Sales_OrderByCustomerGroup": true, "Sales_OrderByCustomer": true,
	"Sales_OrderHistoryById":  true,
	"Sales_OrderTrackingById": true, "Sales_OrderTrackingByStatus": true, "Ops_DeploymentByEnvironment": true,
}

// value returns what an argument is right with; literals of GraphQL that are JSON as well.
func (a *author) value(query string, def *ast.ArgumentDefinition) string {
	switch def.Name {
	case "id":
		return quoted(a.id(query))
	case "ids":
		all := make([]string, a.IntN(6))
		for i := range all {
			all[i] = quoted(a.id(query))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case "filter":
		return "{}"
	case "keys":
		return "[]"
	case "consistent", "reverse", "partial":
		return pick(a.dice, []string{"true", "false"})
	case "limit":
		return strconv.Itoa(1 + a.IntN(20))
	case "timestamp", "changedAt":
		return quoted(a.instant())
	case "eq", "prefix", "from", "to":
		if dated[query] {
			return quoted(a.period())
		}
		if query == "Sales_OrderLineById" { // its operands are whole sort keys
			return quoted(pick(a.dice, []string{"books/prod-1", "toys/prod-4"}))
		}
		return quoted(pick(a.dice, []string{"v0001", "v0002", "~current", "books", "toys/prod-4", "v"}))
	}
	return quoted(pick(a.dice, named[def.Name]))
}

// parts are the arguments of queries that a composite key can be given by, in place of the whole.
var parts = map[string][]string{
	"Sales_OrderLine": {"category", "productId"}, "Sales_OrderLineById": {"category", "productId"},
	"Ops_Deployment": {"environment", "pluginName"},
}

// named are values of arguments that have the name of a field.
var named = map[string][]string{
	"category": {"electronics", "books", "garden", "kitchen", "toys"}, "brand": {"Acme", "Borea", "Cirrus",
		"Delta", "Ember"},
	"supplier": {"North Ltd", "South GmbH", "East SA"}, "customerGroup": {"retail", "wholesale", "staff", "partner"},
	"customerId": {"cust-1", "cust-2", "cust-77"}, "status": {"placed", "paid", "packed", "shipped", "delivered"},
	"environment": {"prod", "staging"}, "ownerId": {"acct-1", "acct-3"}, "version": {"v0001", "~current"},
	"_subId": {"books/prod-1", "toys/prod-4"}, "nextToken": {"token"},
	"productId": {"prod-1", "prod-4"}, "pluginName": {"billing", "orders", "catalog"},
}

// id returns the id of a row that the query may find.
func (a *author) id(query string) string {
	switch {
	case strings.HasPrefix(query, "Sales_Customer"):
		return sample.CustomerID(a.IntN(sample.Small.Customers))
	case strings.HasPrefix(query, "Sales_Product"):
		return sample.ProductID(a.IntN(sample.Small.Products))
	case strings.HasPrefix(query, "Sales_Order"):
		return sample.OrderID(a.IntN(sample.Small.Orders))
	case strings.HasPrefix(query, "Ops_"):
		return pick(a.dice, []string{"prod/billing", "staging/orders", "prod/catalog", "prod/none"})
	case strings.HasPrefix(query, "Billing_Ownership"):
		return "acct-" + strconv.Itoa(a.IntN(12))
	}
	return fmt.Sprintf("inv-%d-%d", a.IntN(11), a.IntN(4))
}

func (a *author) instant() string {
	return fmt.Sprintf("2024-0%d-%02dT%02d:30:00%s", 1+a.IntN(6), 1+a.IntN(28), a.IntN(24),
		pick(a.dice, []string{"Z", ".123Z", "+02:00"}))
}

// period returns a date-time or a part of one.
func (a *author) period() string {
	whole := a.instant()
	return whole[:pick(a.dice, []int{4, 7, 10, 13, 16, len(whole)})]
}

// selection writes a selection of the type's fields.
func (a *author) selection(b *strings.Builder, def *ast.Definition, depth int) {
	if def.Kind != ast.Object {
		b.WriteByte(' ')
		return
	}
	b.WriteString(" { ")
	written := false
	for _, f := range def.Fields {
		joins := a.schema.Types[f.Type.Name()].Kind == ast.Object && f.Name != "items"
		if strings.HasPrefix(f.Name, "__") || joins && depth <= 0 || !a.chance(50) && f.Name != "items" {
			continue
		}
		written = true
		a.field(b, def, f, depth)
	}
	if !written || a.chance(5) {
		b.WriteString("__typename ")
	}
	b.WriteString("} ")
}

// field writes a field, by itself or in a fragment.
func (a *author) field(b *strings.Builder, def *ast.Definition, f *ast.FieldDefinition, depth int) {
	var own strings.Builder
	if a.chance(10) {
		a.names++
		fmt.Fprintf(&own, "a%d: ", a.names)
	}
	own.WriteString(f.Name)
	a.directive(&own)
	below := depth - 1
	if f.Name == "orders" { // of a customer, whom each of them leads to again: answers would grow without end
		below = min(below, 1)
	}
	a.selection(&own, a.schema.Types[f.Type.Name()], below)
	switch n := a.IntN(100); {
	case n < 5:
		b.WriteString("... on " + def.Name + " { " + own.String() + "} ")
	case n < 8:
		b.WriteString("... { " + own.String() + "} ")
	case n < 12:
		name := fmt.Sprintf("F%d", len(a.fragments))
		a.fragments = append(a.fragments, " fragment "+name+" on "+def.Name+" { "+own.String()+"}")
		b.WriteString("..." + name + " ")
	default:
		b.WriteString(own.String())
	}
}

// directive writes a condition now and then.
func (a *author) directive(b *strings.Builder) {
	if !a.chance(4) {
		return
	}
	condition := pick(a.dice, []string{"true", "false"})
	switch {
	case a.chance(a.wild):
		condition = a.hostile()
	case a.chance(50):
		condition = a.variable("Boolean!", condition)
	}
	b.WriteString(pick(a.dice, []string{" @include", " @skip"}) + "(if: " + condition + ")")
}

// hostile returns a literal that may not fit where it stands.
func (a *author) hostile() string {
	if a.chance(40) {
		return quoted(a.text())
	}
	return pick(a.dice, []string{
		"null", "0", "-1", "1001", "2147483648", "-9223372036854775809", "1e999", "-0.0", "1.5",
		"999999999999999999999999999999",
		"true", "ENUM", "[]", `["a", "b"]`, "[[[[1]]]]", "{}", "[{}]", "{price: {le: {}}}",
		`{a: {b: [1, null]}}`, `""`, `"""block"""`,
		`"""\"""x"""`, "$nobody",
		`"\u0000"`, `"\ud800"`, `"\u{110000}"`, `"\x"`, "{a: 1, a: 2}", strings.Repeat("9", 400), strings.Repeat("[", 60) +
			strings.Repeat("]", 60),
	})
}

// hostileJSON returns a value of JSON that may not fit where it stands.
func (a *author) hostileJSON() string {
	if a.chance(40) {
		return quoted(a.text())
	}
	return pick(a.dice, []string{
		"null", "0", "-1", "1001", "2147483648", "-9223372036854775809", "1e999", "-0.0", "1.5",
		"999999999999999999999999999999",
		"true", "[]", `["a", "b"]`, "[[[[1]]]]", "{}", `{"a": {"b": [1, null]}}`, `""`, `"\u0000"`, `"\ud800"`,
		`"\ud83d\ude00"`,
		strings.Repeat("9", 400), strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"a": 1, "a": 2}`, "1E2",
		"5.0", `"5"`,
	})
}
