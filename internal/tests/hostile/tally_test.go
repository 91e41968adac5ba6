package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// tally counts what came of the requests.
type tally struct {
	kinds    map[string]*[3]int // by stage
	codes    map[string]int
	statuses map[int]int
	offsets  []uint64
	longest  int // of a message, in bytes
	slowest  slowRequest
}

type slowRequest struct {
	took   time.Duration
	number int
	kind   string
}

func (c *tally) add(number int, q *request, a *answer, v *verdict, took time.Duration) {
	if c.kinds == nil {
		c.kinds, c.codes, c.statuses = map[string]*[3]int{}, map[string]int{}, map[int]int{}
	}
	if c.kinds[q.kind] == nil {
		c.kinds[q.kind] = &[3]int{}
	}
	c.kinds[q.kind][v.stage]++
	c.statuses[a.status]++
	for _, code := range v.codes {
		c.codes[code]++
	}
	for _, m := range v.messages {
		c.longest = max(c.longest, len(m))
	}
	c.offsets = append(c.offsets, v.offsets...)
	if took > c.slowest.took {
		c.slowest = slowRequest{took, number, q.kind}
	}
}

// past returns how many requests got past parsing.
func (c *tally) past() (n int) {
	for _, stages := range c.kinds {
		n += stages[read] + stages[executed]
	}
	return n
}

// enough is how many requests meet every code, the rarest too.
const enough = 20_000

// check fails the test where the run did not meet what it is there to meet.
func (c *tally) check(t *testing.T, requests int) {
	t.Helper()
	if past := c.past(); past*100 < leastRead*requests {
		t.Errorf("%d of %d requests got past parsing, want %d%%", past, requests, leastRead)
	}
	if requests < enough {
		return
	}
	for _, code := range codes {
		if c.codes[string(code)] == 0 {
			t.Errorf("the code %s was not met", code)
		}
	}
	for _, kind := range slices.Concat(problems, operatorProblems) {
		if c.codes[kind] == 0 {
			t.Errorf("the problem %s was not met", kind)
		}
	}
}

func (c *tally) String() string {
	var b strings.Builder
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		n := c.kinds[kind]
		total += n[0] + n[1] + n[2]
		fmt.Fprintf(&b, "%-20s %6d unread %6d read %6d executed\n", kind, n[0], n[1], n[2])
	}
	fmt.Fprintf(&b, "%.1f%% past parsing; statuses %v; longest message %d bytes; slowest %v\n",
		100*float64(c.past())/float64(total), c.statuses, c.longest, c.slowest)
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		fmt.Fprintf(&b, "%-26s %6d\n", code, c.codes[code])
	}
	return b.String()
}
