package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/internal/bench/peers"
)

// times is how many times as large as the cache the rows are.
const times = 5

// skewed measures questions of few keys that are asked for often, over rows that the cache cannot hold, beside the
// handler over the same store; and what memory the cache takes, beside a server with hardly any.
func skewed(ctx context.Context, out io.Writer, dir string, rounds int, d time.Duration) error {
	bytes, err := bytesIn(filepath.Join(dir, "rows"))
	if err != nil {
		return fmt.Errorf("measure the rows: %w", err)
	}
	w := workload{[]string{"handwritten", "foldql"}, peers.Skewed(), 100_000, max(1, int(bytes/times>>20))}
	results, memory, err := compare(ctx, dir, w, rounds, d)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nkeys of a Zipf distribution, %d MB of rows, a cache of %d MB; foldql, handwritten = 1:\n",
		bytes>>20, w.cacheMB)
	for _, q := range w.questions {
		own, base := median(results["foldql"][q.Name]), median(results["handwritten"][q.Name])
		fmt.Fprintf(out, "  %s: %.2f of the requests/s, %.2f of the requests per CPU second; %.0f requests/s, p99 %.2f ms\n",
			q.Name, own.rate()/base.rate(), base.cpuMicroseconds()/own.cpuMicroseconds(), own.rate(),
			own.p99.Seconds()*1000)
	}
	bare := w
	bare.peers, bare.cacheMB = []string{"foldql"}, 1
	_, without, err := compare(ctx, dir, bare, 1, d)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  peak memory %d MB, and %d MB with a cache of 1 MB: the cache takes %d MB of %d\n",
		memory["foldql"], without["foldql"], memory["foldql"]-without["foldql"], w.cacheMB)
	return nil
}
