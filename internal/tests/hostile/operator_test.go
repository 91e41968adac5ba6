package hostile

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Where the shop answers those who run it.
const (
	projections     = "/admin/projections"
	deadLettersPath = "/admin/dead-letters"
	searchPath      = "/admin/events/search"
)

// operator makes a request of somebody who sees to the projections, or would like to.
func (a *attacker) operator(d dice) *request {
	return draw(d, []weighted[func(dice) *request]{{25, a.deadLetters}, {35, a.decide}, {10, a.projections},
		{20, a.search}, {30, a.locked}})(d)
}

// projections asks how the projections are getting on.
func (a *attacker) projections(d dice) *request {
	q := &request{kind: "admin/projections", method: http.MethodGet, path: projections, header: headers()}
	if d.chance(50) {
		q.query = "x=" + url.QueryEscape(d.text())
	}
	q.want = status(http.StatusOK)
	return q
}

// deadLetters lists dead letters, with wrong operands now and then.
func (a *attacker) deadLetters(d dice) *request {
	v := url.Values{}
	for _, operand := range []struct{ name, good string }{{"projection", "Order"}, {"after", "0@1"}, {"limit", "10"}} {
		switch n := d.IntN(10); {
		case n < 4:
			v.Set(operand.name, operand.good)
		case n < 8:
			v.Set(operand.name, d.text())
		}
	}
	return &request{kind: "admin/dead-letters", method: http.MethodGet, path: deadLettersPath, query: v.Encode(),
		header: headers()}
}

// decide asks for an event that is no dead letter to be tried again or skipped: to do so with one that is would change
// what is folded.
func (a *attacker) decide(d dice) *request {
	ref := pick(d, []string{"0@0", "0@", "@", "0@-1", "0@18446744073709551615", "0@18446744073709551616", "1@1", "0@1@1",
		"", d.text(), d.text()})
	body := object{{"projection", quoted(pick(d, []string{"Order", "Order", "Product", "Nothing", d.text()}))},
		{"event", quoted(ref)}}
	if d.chance(30) {
		body = a.disturbObject(d, body)
	}
	text := body.String()
	if d.chance(10) {
		text = d.bytes(text)
	}
	q := &request{
		kind: "admin/decide", method: http.MethodPost, path: deadLettersPath + pick(d, []string{"/retry", "/skip"}),
		body:  text,
		sized: true,
		header: headers("Content-Type", pick(d, []string{"application/json", "application/json",
			"application/json; charset=utf-8", "text/plain", ""})),
	}
	if d.chance(5) {
		q.tail, q.sized = 1<<20, false
	}
	return q
}

// search asks for events of the log, with wrong filters and positions now and then.
func (a *attacker) search(d dice) *request {
	position := pick(d, []string{`{"0":1}`, `{"0":0}`, `{"0":18446744073709551615}`, `{"0":18446744073709551616}`, `{"0":-1}`,
		`{}`, `null`, `[]`, "{" + quoted(d.text()) + ":1}"})
	body := object{
		{"subject", quoted(pick(d, []string{"", "order-1", d.text()}))}, {"types", "[" + quoted(d.text()) + "]"},
		{"after", pick(d, []string{`"2024-01-15T00:00:00Z"`, `"9999-12-31T23:59:59.999Z"`, `""`, quoted(d.text())})},
		{"limit", pick(d, []string{"1", "10", "0", "1001", "-1", "1e3", `"1"`})},
		{pick(d, []string{"from", "upTo"}), position},
	}
	if body = slices.Delete(body, 0, d.IntN(len(body))); d.chance(30) {
		body = a.disturbObject(d, body)
	}
	text := body.String()
	if d.chance(10) {
		text = d.bytes(text)
	}
	return &request{
		kind: "admin/search", method: http.MethodPost, path: searchPath, body: text, sized: true,
		header: headers("Content-Type", pick(d, []string{"application/json", "application/json", "text/plain", ""})),
	}
}

// locked asks for something that takes the writers' token without it.
func (a *attacker) locked(d dice) *request {
	q := pick(d, []func(dice) *request{a.deadLetters, a.projections, a.search, a.decide, a.fresh})(d)
	q.kind, q.want = "admin/locked", status(http.StatusUnauthorized)
	given := pick(d, []string{
		"", "Bearer ", "Bearer " + writer[1:], "Bearer " + writer + "x", "Basic " + writer, writer, "Bearer " +
			strings.ToUpper(writer),
		"Bearer " + boss.token(), "Bearer " + headerValue(d.text()), "Bearer " + strings.Repeat("t", 20_000),
	})
	q.header["Authorization"] = []string{given}
	if d.chance(20) {
		q.header["Authorization"] = []string{given, "Bearer " + writer} // the first one counts
	}
	return q
}

// elsewhere asks for what the shop shows beside its API, or has not at all.
func (a *attacker) elsewhere(d dice) *request {
	path := pick(d, []string{
		"/", "/livez", "/readyz", "/metrics", "/schema.graphql", "/admin", "/admin/", "/admin/dead-letters/retry",
		"/assets/", "/favicon.ico",
		"/assets/../../etc/passwd", "//", "/./graphql/", "/graphql/x", "/events/", "*", "/" + d.text(), "/assets/" + d.text(),
	})
	return &request{
		kind: "elsewhere", method: pick(d, []string{"GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS",
			"CONNECT", "X"}), path: path,
		query: pick(d, []string{"", "", "x=%", url.QueryEscape(d.text())}), header: headers("Accept-Encoding",
			pick(d, []string{"", "gzip"})),
	}
}

// operatorProblems are the types of problem details that an operator of this shop can be answered with. Beyond them
// there is one for servers without a token of writers, one for events that fail again, and one that nobody is to see.
var operatorProblems = []string{"unauthorized", "bad-request", "not-found", "request-too-large"}

// verifyOperator reads an answer to somebody who sees to the projections.
func verifyOperator(a *answer) (v verdict, err error) {
	switch {
	case a.status == http.StatusOK:
		var body struct{ Projections, DeadLetters []struct{ Projection string } }
		v.stage = executed
		return v, wellFormed(a, &body, "application/json")
	case a.status < http.StatusBadRequest:
		return v, fmt.Errorf("status %d: an event was retried or skipped that should not have been there", a.status)
	case a.status == http.StatusMethodNotAllowed:
		return v, nil
	}
	v, err = verifyProblem(a, operatorProblems)
	if slices.Contains(v.codes, "not-found") {
		v.stage = read
	}
	return v, err
}

// verifyPage reads an answer of any other kind. Pages, metrics and the schema show what they are made of, and no
// messages.
func verifyPage(a *answer) (v verdict, err error) {
	if a.status >= http.StatusBadRequest {
		v.messages = []string{a.body.String()}
		return v, nil
	}
	if a.header.Get("X-Content-Type-Options") != "nosniff" {
		return v, errors.New("the answer has not been through the middleware")
	}
	v.stage = executed
	return v, nil
}
