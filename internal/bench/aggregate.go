package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/internal/bench/peers"
)

// ofMatches compares the server of examples/cricket with a handler that reads the items of a match by hand.
var ofMatches = workload{[]string{"match", "foldql"}, peers.MatchQuestions, 2000, peers.CacheMB}

// aggregate measures reads of an aggregate. The data are folded by the example's own projectors.
func aggregate(ctx context.Context, out io.Writer, dir string, rounds int, d time.Duration) error {
	dir = filepath.Join(dir, "cricket")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := build(ctx, "examples/cricket", serverOf(dir)); err != nil {
		return err
	}
	n, err := writeEvents(eventsOf(dir), peers.MatchEvents())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nan aggregate, at %d connections; %d matches:\n", connections, peers.MatchCount)
	err = replay(ctx, out, "the fold of cricket, 6 read models", serverOf(dir), eventsOf(dir), dir, n)
	if err != nil {
		return err
	}
	results, _, err := compare(ctx, dir, ofMatches, rounds, d)
	if err != nil {
		return err
	}
	for _, q := range ofMatches.questions {
		hand, served := median(results["match"][q.Name]), median(results["foldql"][q.Name])
		fmt.Fprintf(out, "  %s: %s, %d bytes\n", q.Name, q.Asks, served.bytes)
		printAnswers(out, "handwritten", hand)
		printAnswers(out, "foldql", served)
		fmt.Fprintf(out, "    foldql to handwritten: %.2f of the requests per CPU second, %.2f of the requests/s\n",
			hand.cpuMicroseconds()/served.cpuMicroseconds(), served.rate()/hand.rate())
	}
	return nil
}

func printAnswers(out io.Writer, name string, r result) {
	fmt.Fprintf(out, "    %s: %.1f µs of CPU per request, %.0f requests/s, p99 %.2f ms\n", name, r.cpuMicroseconds(),
		r.rate(), r.p99.Seconds()*1000)
}
