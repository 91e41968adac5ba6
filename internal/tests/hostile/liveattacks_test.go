package hostile

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// attack is one way to take from a server more than one's share.
type attack struct {
	name string
	play func(s *live)
}

var attacks = []attack{
	{"long names", longNames},
	{"many values", manyValues},
	{"large rows, little asked", largeRows},
	{"nobody reads the answers", slowReaders},
	{"many connections", manyConnections},
	{"endless extension attributes", manyExtensions},
	{"large batches", largeBatches},
	{"one long history", longHistory},
	{"dead letters and retries", deadLetters},
}

// storm has attackers do something again and again for as long as an attack goes on.
func (s *live) storm(each func(n int64)) {
	var all sync.WaitGroup
	var n atomic.Int64
	end := time.Now().Add(s.attackFor)
	for range s.attackers {
		all.Go(func() {
			for time.Now().Before(end) {
				each(n.Add(1))
			}
		})
	}
	all.Wait()
}

// longNames: validation printed the names of a document once for each of its mistakes.
func longNames(s *live) {
	var unused, unknown strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&unused, "$v%d: ID ", i)
	}
	for i := range 199 {
		fmt.Fprintf(&unknown, "f%d%s ", i, strings.Repeat("x", 5000))
	}
	documents := []string{
		"query " + strings.Repeat("n", 890_000) + "(" + unused.String() + ") { __typename }",
		`{ Sales_Product(id: "1") { ` + unknown.String() + "} }",
		`{ Sales_Product(id: ` + strings.Repeat("9", 900_000) + ") { productId } }",
		`{ Sales_Product(id: [` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "]) { productId } }",
	}
	s.storm(func(n int64) { s.graphql(documents[n%int64(len(documents))]) })
}

// manyValues: each value of a variable takes many times the memory of its text.
func manyValues(s *live) {
	bodies := []string{
		`{"query":"query($v: [String]) { __typename }","variables":{"v":[` + strings.Repeat("1,", 450_000) + `1]}}`,
		`{"query":"{ __typename }","variables":{"v":` + strings.Repeat(`{"v":`, 9000) + "1" + strings.Repeat("}",
			9000) + `}}`,
		`{"query":"{ __typename }","extensions":{"v":[` + strings.Repeat("{},", 300_000) + `{}]}}`,
	}
	s.storm(func(n int64) {
		s.post("/graphql", "application/json", strings.NewReader(bodies[n%int64(len(bodies))]))
	})
}

// everyLargeRow asks for something of all large rows, many times over.
func (s *live) everyLargeRow(aliases int, what string) string {
	var b strings.Builder
	for i := range aliases {
		fmt.Fprintf(&b, `a%d: Sales_ProductByCategory(category: "large", limit: %d) { items { %s } } `, i, s.large, what)
	}
	return "{ " + b.String() + "}"
}

// largeRows: an answer of a few kilobytes that a gigabyte of rows was read for.
func largeRows(s *live) {
	document := s.everyLargeRow(20, "productId")
	s.storm(func(int64) { s.graphql(document) })
}

// slowReaders: answers waited in memory for clients that never took them.
func slowReaders(s *live) {
	const sockets = 100
	document := strings.ReplaceAll(s.everyLargeRow(1, "name"), `"`, `\"`)
	body := `{"query":"` + document + `"}`
	var all sync.WaitGroup
	end := time.Now().Add(s.attackFor)
	for range sockets {
		all.Go(func() {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				return
			}
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // little of the answer leaves the server
			fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "+
				"%d\r\n\r\n%s", len(body), body)
			time.Sleep(time.Until(end)) // it is the attack
		})
	}
	all.Wait()
}

// manyConnections: sockets that say nothing, or never come to an end.
func manyConnections(s *live) {
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	end := time.Now().Add(s.attackFor)
	for n := 0; n < 1500 && time.Now().Before(end); n++ {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			continue
		}
		open = append(open, conn)
		if n%10 == 0 {
			_, _ = io.WriteString(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		}
	}
	time.Sleep(time.Until(end))
}

// manyExtensions: a megabyte of attributes was compared in pairs, long after its client had gone.
func manyExtensions(s *live) {
	var b strings.Builder
	b.WriteString(`[{"specversion":"1.0","id":"a","source":"/hostile","type":"ProductRemoved","data":{"productId":"a"}`)
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"x%d":1`, i)
	}
	body := b.String() + "}]"
	s.storm(func(n int64) {
		if n%2 == 0 {
			s.events(strings.NewReader(body))
			return
		}
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			return
		}
		fmt.Fprintf(conn, "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
			"application/cloudevents-batch+json\r\nContent-Length: %d\r\n\r\n%s",
			len(body), body)
		_ = conn.Close()
	})
}

// largeBatches: as large as a request may be, and full of what is no event.
func largeBatches(s *live) {
	bodies := []string{
		"[" + strings.Repeat("{},", 5_000_000) + "{}]",
		"[" + strings.Repeat(" ", 15<<20) + "]",
		`[{"specversion":"1.0","id":"a","source":"/hostile","type":"ProductRemoved","data":{"productId":"a"}}` +
			strings.Repeat(`,{"specversion":"1.0","id":"a","source":"/hostile","type":"ProductRemoved","data":{"productId":"a"}}`, 120_000) + "]",
		"[" + strings.Repeat("[", 10<<20),
	}
	s.storm(func(n int64) { s.events(strings.NewReader(bodies[n%int64(len(bodies))])) })
}

// longHistory: each event of an entity cost as much as its history was long.
func longHistory(s *live) {
	s.storm(func(n int64) {
		var batch []string
		for i := range 100 {
			id := n*100 + int64(i)
			batch = append(batch,
				fmt.Sprintf(`{"specversion":"1.0","id":"history-%d-%d","source":"/hostile","type":"OrderStatusChanged","subject":"order-2",`+
					`"data":{"orderId":"order-2","status":"s%d","total":1,"changedAt":%q}}`,
					time.Now().UnixNano(), id, id, time.Unix(1_800_000_000+id, 0).UTC().Format(time.RFC3339)))
		}
		s.events(strings.NewReader("[" + strings.Join(batch, ",") + "]"))
	})
}

// deadLetters: events that cannot be folded, and the same ones tried again and again.
func deadLetters(s *live) {
	s.storm(func(n int64) {
		var batch []string
		for i := range 100 {
			id := fmt.Sprintf("missing-%d-%d-%d", time.Now().UnixNano(), n, i)
			batch = append(batch,
				fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"/hostile","type":"ProductRepriced","subject":%q,`+
					`"data":{"productId":%q,"price":1}}`, id, id, id))
		}
		s.events(strings.NewReader("[" + strings.Join(batch, ",") + "]"))
		for i := range 10 {
			s.post("/admin/dead-letters/retry", "application/json",
				strings.NewReader(fmt.Sprintf(`{"projection":"Product","event":"0@%d"}`, 2000+n*100+int64(i))))
		}
		s.get("/admin/dead-letters?limit=1000")
		s.get("/readyz")
	})
}

func (s *live) get(path string) {
	resp, err := s.client.Get(s.url + path)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// check asks the server what it has become of: it lives, refuses what it should, and knows why it is not ready, if it
// is not.
func (s *live) check(t *testing.T) {
	t.Helper()
	if err := s.ask(s.client); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	status, body := s.graphql(s.everyLargeRow(20, "productId"))
	if status != http.StatusOK || !strings.Contains(body, "LIMIT_EXCEEDED") {
		t.Errorf("what reads too much gets %d %.300s", status, body)
	}
	status, body = s.graphql(`{ Sales_ProductByCategory(category: "large", limit: 100) { items { productId } } }`)
	if status != http.StatusOK || strings.Count(body, `"large-`) != 100 {
		t.Errorf("what reads as much as it may gets %d %.300s", status, body)
	}
	if strings.Contains(s.said(), "panic") {
		t.Errorf("the server panicked:\n%s", s.said())
	}
}
