package hostile

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// graphql makes a request to the API.
func (a *attacker) graphql(d dice) *request {
	return draw(d, []weighted[func(dice) *request]{
		{12, a.honest}, {24, a.values}, {24, a.tokens}, {10, a.garbled}, {3, a.bomb}, {15, a.transport}, {8, a.jsonBody},
		{2, a.troubled}, {3, a.identified},
	})(d)
}

func (a *attacker) author(d dice, wild int) *author {
	return &author{dice: d, schema: a.schema, wild: wild}
}

// honest asks what everybody may ask, and wants it answered.
func (a *attacker) honest(d dice) *request {
	w := a.author(d, 0)
	w.open = true
	doc := w.write()
	q := post("graphql/honest", doc.text, doc.variables)
	if d.chance(30) {
		q = get("graphql/honest", doc)
	}
	q.want = answered
	return q
}

// values asks in the right form with the wrong values.
func (a *attacker) values(d dice) *request {
	doc := a.author(d, 40).write()
	if d.chance(20) {
		return get("graphql/values", doc)
	}
	return post("graphql/values", doc.text, doc.variables)
}

// tokens moves the words of a document about.
func (a *attacker) tokens(d dice) *request {
	doc := a.author(d, 5).write()
	other := words(a.author(d, 5).write().text)
	list := words(doc.text)
	for range 1 + d.IntN(3) {
		list = a.disturb(d, list, other)
	}
	return post("graphql/tokens", strings.Join(list, " "), doc.variables)
}

// vocabulary are words that mean something somewhere.
var vocabulary = []string{
	"{", "}", "(", ")", "[", "]", ":", "!", "=", "@", "$", "&", "|", "...", "query", "mutation", "subscription",
	"fragment", "on",
	"extend", "schema", "type", "null", "true", "__typename", "__schema", "__type", "items", "nextToken",
	"customer", "products",
	"@include", "@skip", "@defer", "@stream", "@deprecated", "if", "Order", "Query", "Customer", "Int", "String",
	"ID!", "orderId",
}

// disturb does one thing to a list of words. Most often a name takes the place of another, so that the document may
// still be one.
func (a *attacker) disturb(d dice, list, other []string) []string {
	if len(list) == 0 {
		return other
	}
	at := d.IntN(len(list))
	to := at + 1 + d.IntN(min(8, len(list)-at))
	out := append([]string(nil), list[:at]...)
	switch d.IntN(12) {
	case 0:
		return append(out, list[to:]...)
	case 1: // twice
		return append(append(out, list[at:to]...), list[at:]...)
	case 2: // the other way round
		for i := to - 1; i >= at; i-- {
			out = append(out, list[i])
		}
		return append(out, list[to:]...)
	case 3:
		return append(append(out, pick(d, vocabulary)), list[at+1:]...)
	case 4:
		return append(append(out, pick(d, vocabulary)), list[at:]...)
	case 5: // a piece of another document
		from := d.IntN(len(other))
		return append(append(out, other[from:from+1+d.IntN(min(8, len(other)-from))]...), list[to:]...)
	}
	return rename(d, list, other)
}

// rename gives one word the place of another of its kind.
func rename(d dice, list, other []string) []string {
	list = slices.Clone(list)
	at := d.IntN(len(list))
	for range 20 {
		from := pick(d, [][]string{list, other, vocabulary})
		if word := pick(d, from); word[0] == list[at][0] || inName(word[0]) && inName(list[at][0]) {
			list[at] = word
			break
		}
	}
	return list
}

func inName(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// words splits a document at the borders of names, numbers, strings and punctuation.
func words(text string) []string {
	var list []string
	for i := 0; i < len(text); {
		start := i
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == ',':
			i++
			continue
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(text))
		case inWord(c):
			for i < len(text) && inWord(text[i]) {
				i++
			}
		default:
			i++
		}
		list = append(list, text[start:i])
	}
	return list
}

func inWord(c byte) bool { return inName(c) || c == '-' || c == '.' || '0' <= c && c <= '9' }

// garbled mutates the bytes of a document.
func (a *attacker) garbled(d dice) *request {
	doc := a.author(d, 5).write()
	doc.text = d.bytes(doc.text)
	if d.chance(50) { // where text that is no UTF-8 gets as far as the parser
		return get("graphql/bytes", doc)
	}
	return post("graphql/bytes", doc.text, doc.variables)
}

// bomb asks for much with little, or with much.
func (a *attacker) bomb(d dice) *request {
	n := 1 + d.IntN(1<<d.IntN(11))
	doc := pick(d, bombs)(n)
	if d.IntN(200) == 0 { // more than a request may have
		q := post("graphql/bomb", "{Sales_OrderCount{orders}}", "")
		q.tail, q.sized = 1<<20, d.chance(50)
		return q
	}
	return post("graphql/bomb", doc, "")
}

var bombs = []func(n int) string{
	func(n int) string { return strings.Repeat("{a", n) + strings.Repeat("}", n) },
	func(n int) string {
		return `{Sales_Order(id:"order-1"){` + strings.Repeat("products{__typename ... on Product{", n) + "productId" +
			strings.Repeat("}}", n) + "}}"
	},
	func(n int) string { return "{" + many(n, "a%d:Sales_OrderCount{orders}") + "}" },
	func(n int) string { return "{Sales_OrderCount{" + many(n, "a%d:orders ") + "}}" },
	func(n int) string { return "{Sales_OrderCount{" + strings.Repeat("orders ", n) + "}}" },
	func(n int) string { // each fragment spreads the next one twice
		n = min(n, 60)
		text := "{...F0}"
		for i := range n {
			text += fmt.Sprintf(" fragment F%d on Query{...F%d ...F%d}", i, i+1, i+1)
		}
		return text + fmt.Sprintf(" fragment F%d on Query{Sales_OrderCount{orders}}", n)
	},
	func(n int) string { // fragments that spread each other in a ring
		text := "{...F0}"
		for i := range n {
			text += fmt.Sprintf(" fragment F%d on Query{...F%d}", i, (i+1)%n)
		}
		return text
	},
	func(n int) string { return "{Sales_OrderCount{orders " + strings.Repeat("@include(if:true)", n) + "}}" },
	func(n int) string { return "query(" + many(n, "$v%d:Int ") + "){Sales_OrderCount{orders}}" },
	func(n int) string {
		return `{Sales_Product(id:` + strings.Repeat("[", n) + strings.Repeat("]", n) + "){name}}"
	},
	func(n int) string { return `{Sales_Product(id:"` + strings.Repeat("k", 8*n) + `"){name}}` },
	func(n int) string { return "{" + strings.Repeat("n", 8*n) + "}" },
	func(n int) string { return "{" + many(n, "nobody%d ") + "}" },
	func(n int) string { return strings.Repeat("#comment\n", n) + "{Sales_OrderCount{orders}}" },
	func(n int) string { return many(n, "query Q%d{Sales_OrderCount{orders}} ") },
	func(n int) string {
		return "{" + many(min(n, 20), `a%d:Sales_ProductByCategory(category:"books",limit:50){items{name}}`) + "}"
	},
	func(n int) string {
		return `{Sales_OrderByCustomerGroup(customerGroup:"retail",limit:` + fmt.Sprint(n) + `){items{products{name}}}}`
	},
	func(n int) string { // pairs of fields that must be compared
		return "{" + strings.Repeat(`Sales_Order(id:"order-1"){customer{name} `+"products{name}}", n) + "}"
	},
}

func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// get asks a document in the URL.
func get(kind string, doc document) *request {
	values := url.Values{"query": {doc.text}}
	if doc.variables != "" {
		values.Set("variables", doc.variables)
	}
	return &request{kind: kind, method: http.MethodGet, path: api, query: values.Encode(), header: headers(), sized: true}
}

// transport asks a good document in the wrong way.
func (a *attacker) transport(d dice) *request {
	doc := a.author(d, 0).write()
	q := post("graphql/transport", doc.text, doc.variables)
	switch d.IntN(9) {
	case 0:
		q.method = pick(d, []string{"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW", "GET"})
	case 1:
		q.header = headers("Content-Type", pick(d, mediaTypes))
	case 2:
		q.header.Set("Accept", pick(d, mediaTypes)+pick(d, []string{"", ";q=0", ";q=0.5, */*;q=0.1", ";q=x",
			", application/graphql-response+json"}))
	case 3:
		q.header.Set("Content-Encoding", pick(d, []string{"gzip", "identity", "br", "", "gzip, gzip"}))
	case 4:
		q.body = "[" + q.body + "," + q.body + "]"
	case 5:
		q.body, q.broken = q.body[:d.IntN(len(q.body))], d.chance(50)
	case 6:
		q = get(q.kind, doc)
		q.query = d.bytes(q.query)
	case 7:
		q = get(q.kind, doc)
		q.query += pick(d, []string{"&query=x", "&operationName=Nobody", "&variables=%5B%5D", "&extensions=1", "&%zz",
			"&variables={\"v0\":1}", ";"})
	case 8:
		q.header.Del("Content-Type")
		q.sized = d.chance(50)
	}
	return q
}

var mediaTypes = []string{
	"application/json", "application/json; charset=utf-8", "application/json; charset=latin1", "application/graphql",
	"application/graphql-response+json", "text/plain", "multipart/form-data; boundary=x",
	"application/x-www-form-urlencoded",
	"application/json;;", "*/*", "application/*", "", ";", "application/cloudevents+json", "application/json, text/html",
	"a/b/c",
}

// jsonBody mutates the body around the document.
func (a *attacker) jsonBody(d dice) *request {
	w := a.author(d, 5)
	doc := w.write()
	q := post("graphql/json", doc.text, doc.variables)
	switch d.IntN(4) {
	case 0:
		q.body = d.bytes(q.body)
	case 1:
		q.body = strings.TrimSuffix(q.body, "}") + pick(d, []string{
			`,"operationName":"Nobody"}`, `,"operationName":7}`, `,"variables":[]}`,
			`,"extensions":{"persistedQuery":{"version":1}}}`,
			`,"query":null}`, `,"query":""}`, `,"query":{}}`, `,"variables":{"v0":null,"nobody":[{}]}}`, `,"variables":"{}"}`,
			`,"variables":{"v0":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}}", `,"deep":` +
				strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", `}{}`, `,}`, "}\x00", `,"operationName":"Q0"}`,
		})
	case 2:
		q.body = `{"query":` + quoted(doc.text) + `,"variables":` + w.hostileJSON() + "}"
	case 3:
		q.body = `{"query":` + w.hostileJSON() + "}"
	}
	return q
}

// troubled asks a good document while something goes wrong in the server.
func (a *attacker) troubled(d dice) *request {
	w := a.author(d, 0)
	w.open = true
	doc := w.write()
	q := post("graphql/trouble", doc.text, doc.variables)
	q.trouble = pick(d, troubles)
	return q
}

// identified asks a document by an identifier that the shop may know, does not know, or that is that of another one.
func (a *attacker) identified(d dice) *request {
	w := a.author(d, 0)
	w.open = true
	doc := w.write()
	q := post("graphql/identified", doc.text, doc.variables)
	members := strings.TrimPrefix(q.body, `{"query":`+quoted(doc.text)) // those beside the query
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(doc.text)))
	extension := func(hash string) string {
		return `{"persistedQuery":{"version":1,"sha256Hash":` + quoted(hash) + `}}`
	}
	switch d.IntN(6) {
	case 0:
		q.body = `{"documentId":` + quoted(d.text()) + members
	case 1:
		q.body = `{"documentId":` + w.hostileJSON() + members
	case 2: // the document has been sent, or has not
		q.body = `{"extensions":` + extension(hash) + members
	case 3:
		q.body = strings.TrimSuffix(q.body, "}") + `,"extensions":` + extension(d.changed(hash)) + "}"
	case 4:
		q.body = strings.TrimSuffix(q.body, "}") + `,"extensions":` + extension(hash) + "}"
		q.want = answered
	case 5:
		q = get(q.kind, doc)
		q.query = url.Values{"extensions": {extension(d.text())}}.Encode()
	}
	return q
}
