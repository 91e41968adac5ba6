// Command bench measures the server beside others that do the same work, in one run, and prints the ratios:
//
//	bench                  beside others that answer the same questions from the embedded store, as
//	                       docs/architecture/speed.md says. Then how fast an index is built from rows, how keys are
//	                       composed, a page of a collection, and an aggregate beside a handler that reads its items.
//	bench -part NAME       one part of that alone: fold, peers, skewed or aggregate.
//	bench -part large      a shop -scale times as large: its fold, disk and next start, and queries beside the small one.
//	bench -source          how fast a stream of NATS JetStream is read, beside a bare consumer of the client library.
//	bench -store dynamodb  beside a bare loop over the SDK that makes the same requests to DynamoDB Local.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/bench/dynamobench"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/bench/sourcebench"
	"github.com/foldql/foldql/internal/tests/registryevents"
	"github.com/foldql/foldql/server"
)

func main() {
	var (
		events = flag.Int("events", 1_000_000,
			"how many events are folded to see that memory stays flat (dynamodb), or read (-source)")
		delay   = flag.Duration("delay", 0, "how far away DynamoDB Local is to be: added to each request (dynamodb)")
		store   = flag.String("store", "embedded", "what to measure: embedded or dynamodb")
		name    = flag.String("peer", "", "serve as this peer (the benchmark starts itself so)")
		data    = flag.String("data", "", "data directory; a temporary one by default")
		seconds = flag.Float64("seconds", 3, "how long one measurement takes")
		rounds  = flag.Int("rounds", 3, "how often each is measured; the median counts")
		part    = flag.String("part", "", "measure one part alone (embedded): fold, peers, skewed, aggregate or large")
		cache   = flag.Int("cache", peers.CacheMB, "MB of the cache of the store that a peer serves from")
		scale   = flag.Int("scale", 87, "how many times as large the shop of -part large is: 87 is 10,000,000 events")
		idle    = flag.Int("idle", -1,
			"be the server of the shop with so many idle projections (the benchmark starts itself so)")
		source   = flag.Bool("source", false, "measure how fast a stream of events is read, and nothing else")
		registry = flag.String("registry", registryevents.File("examples/registry"),
			"events of a package registry (.jsonl.gz) to measure the fold on")
	)
	flag.Parse()
	if *idle >= 0 {
		os.Args = append(os.Args[:1], flag.Args()...)
		server.Main(withIdleProjections(*idle))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	var err error
	each := time.Duration(*seconds * float64(time.Second))
	switch {
	case *name != "":
		err = peers.ServePeer(ctx, *name, *data, *cache)
	case *source:
		err = inDir(*data, func(dir string) error { return sourcebench.Run(ctx, os.Stdout, dir, *rounds, *events) })
	case *store == "dynamodb":
		err = dynamobench.Run(ctx, os.Stdout, *rounds, *events, each, *delay)
	case *store == "embedded":
		err = inDir(*data, func(dir string) error {
			if *part == "large" {
				return large(ctx, os.Stdout, dir, *scale, each)
			}
			return bench(ctx, *part, dir, *registry, *rounds, each)
		})
	default:
		err = fmt.Errorf("the store is %q, and must be embedded or dynamodb", *store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const connections = 32

// workload is what some peers are asked.
type workload struct {
	peers     []string // in the order of the table
	questions []peers.Question
	requests  int // different ones of each question
	cacheMB   int // of the store
}

// ofShop has the ratios to the first three of its peers.
var ofShop = workload{[]string{"handwritten", "memory", "plain", "foldql", "resolvers", "canned"}, peers.Questions,
	2000, peers.CacheMB}

// inDir calls run with the directory or, where that is "", with a temporary one.
func inDir(dir string, run func(dir string) error) error {
	if dir != "" {
		return run(dir)
	}
	tmp, err := os.MkdirTemp("", "foldql-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	return run(tmp)
}

// bench measures one part, or all of them.
func bench(ctx context.Context, part, dir, registry string, rounds int, d time.Duration) error {
	switch part {
	case "":
		return all(ctx, dir, registry, rounds, d)
	case "fold":
		return fold(ctx, os.Stdout, dir, registry)
	case "aggregate":
		return aggregate(ctx, os.Stdout, dir, rounds, d)
	case "peers", "skewed":
		if err := fill(ctx, os.Stdout, dir); err != nil {
			return err
		}
		if part == "skewed" {
			return skewed(ctx, os.Stdout, dir, rounds, d)
		}
		return besidePeers(ctx, dir, rounds, d)
	}
	return fmt.Errorf("there is no part %q: give fold, peers, skewed, aggregate or large", part)
}

// besidePeers measures the questions of the shop beside its peers.
func besidePeers(ctx context.Context, dir string, rounds int, d time.Duration) error {
	results, memory, err := compare(ctx, dir, ofShop, rounds, d)
	if err == nil {
		report(os.Stdout, results, memory)
	}
	return err
}

func all(ctx context.Context, dir, registry string, rounds int, d time.Duration) error {
	if err := fold(ctx, os.Stdout, dir, registry); err != nil {
		return err
	}
	if err := besidePeers(ctx, dir, rounds, d); err != nil {
		return err
	}
	if err := skewed(ctx, os.Stdout, dir, rounds, d); err != nil {
		return err
	}
	if err := indexBuild(ctx, os.Stdout, dir, 1_000_000); err != nil {
		return err
	}
	if err := compositions(os.Stdout); err != nil {
		return err
	}
	if err := collectionPages(ctx, os.Stdout, dir, d); err != nil {
		return err
	}
	return aggregate(ctx, os.Stdout, dir, rounds, d)
}

// compare measures the peers of a workload in turns, when all of them have given the same answers: what each did with
// each question, and the memory that it took.
func compare(ctx context.Context, dir string, w workload, rounds int, d time.Duration) (
	results map[string]map[string][]result, memory map[string]int, err error) {
	if err := agree(dir, w); err != nil {
		return nil, nil, err
	}
	results, memory = map[string]map[string][]result{}, map[string]int{}
	for range rounds {
		for _, name := range w.peers {
			if results[name] == nil {
				results[name] = map[string][]result{}
			}
			if err := measure(ctx, name, dir, w, d, results[name], memory); err != nil {
				return nil, nil, err
			}
		}
	}
	return results, memory, nil
}

// path is where a peer answers a question.
func path(peer, question string) string {
	switch peer {
	case "foldql", "resolvers", "plain":
		return "/graphql"
	}
	return "/" + question
}

// agree fails where two peers answer one request differently: then they do not do the same work.
func agree(dir string, w workload) error {
	want := map[string][]any{}
	for _, name := range w.peers {
		got, err := samplesOf(name, dir, w)
		if err != nil {
			return err
		}
		for _, q := range w.questions {
			switch {
			case name == w.peers[0]:
				want[q.Name] = got[q.Name]
			case name == "canned": // always the same answer
			case !same(got[q.Name], want[q.Name]):
				return fmt.Errorf("peer %s answers %s otherwise than %s", name, q.Name, w.peers[0])
			}
		}
	}
	return nil
}

// samplesOf asks a peer the first requests of each question.
func samplesOf(name, dir string, w workload) (map[string][]any, error) {
	const samples = 20
	p, err := startPeer(name, dir, w.cacheMB)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	all := map[string][]any{}
	for _, q := range w.questions {
		for _, request := range q.Requests(path(name, q.Name), samples) {
			body, err := fetch(p.addr, request)
			if err != nil {
				return nil, fmt.Errorf("ask %s %s: %w", name, q.Name, err)
			}
			var got any
			if err := json.Unmarshal(body, &got); err != nil {
				return nil, fmt.Errorf("ask %s %s: %w: %s", name, q.Name, err, body)
			}
			all[q.Name] = append(all[q.Name], got)
		}
	}
	return all, nil
}

func same(a, b any) bool {
	x, _ := json.Marshal(a) // both come from JSON
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// measure asks one peer every question and adds what it did to the results.
func measure(ctx context.Context, name, dir string, w workload, d time.Duration, to map[string][]result,
	memory map[string]int) error {
	p, err := startPeer(name, dir, w.cacheMB)
	if err != nil {
		return err
	}
	defer p.stop()
	for _, q := range w.questions {
		requests := q.Requests(path(name, q.Name), w.requests)
		if _, err := load(p.addr, requests, connections, d/4); err != nil { // warm
			return fmt.Errorf("ask %s %s: %w", name, q.Name, err)
		}
		before, err := p.cpu()
		if err != nil {
			return err
		}
		r, err := load(p.addr, requests, connections, d)
		if err != nil {
			return fmt.Errorf("ask %s %s: %w", name, q.Name, err)
		}
		after, err := p.cpu()
		if err != nil {
			return err
		}
		r.cpu = (after - before) / time.Duration(max(r.requests, 1))
		to[q.Name] = append(to[q.Name], r)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	mb, err := p.peakMB()
	memory[name] = max(memory[name], mb)
	return err
}

// median returns the result with the middle rate.
func median(rs []result) result {
	rs = slices.Clone(rs)
	slices.SortFunc(rs, func(a, b result) int { return int(a.rate() - b.rate()) })
	return rs[len(rs)/2]
}

// report prints the results as Markdown, which docs/architecture/speed.md quotes.
func report(w io.Writer, results map[string]map[string][]result, memory map[string]int) {
	fmt.Fprintf(w, "\n%d connections; %d customers, %d orders of %d statuses and %d products each, %d products\n\n",
		connections, peers.Size.Customers, peers.Size.Orders, peers.Size.Statuses, peers.Size.Lines, peers.Size.Products)
	for _, q := range peers.Questions {
		fmt.Fprintf(w, "- %s: %s\n", q.Name, q.Asks)
	}
	of := func(p, q string) result { return median(results[p][q]) }
	rate := func(p, q string) float64 { return of(p, q).rate() }
	cpu := func(p, q string) float64 { return of(p, q).cpuMicroseconds() }
	milliseconds := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

	table(w, "requests/s", func(p, q string) string { return fmt.Sprintf("%.0f", rate(p, q)) })
	table(w, "p50, ms", func(p, q string) string { return milliseconds(of(p, q).p50) })
	table(w, "p99, ms", func(p, q string) string { return milliseconds(of(p, q).p99) })
	table(w, "CPU per request, µs", func(p, q string) string { return fmt.Sprintf("%.1f", cpu(p, q)) })
	for _, base := range ofShop.peers[:3] {
		table(w, "requests/s, "+base+" = 1", func(p, q string) string {
			return fmt.Sprintf("%.2f", rate(p, q)/rate(base, q))
		})
		table(w, "requests per CPU second, "+base+" = 1", func(p, q string) string {
			return fmt.Sprintf("%.2f", cpu(base, q)/cpu(p, q))
		})
	}
	fmt.Fprintf(w, "\n%s beside canned answers on Q1: %.2f of the requests/s, %.2f of the requests per CPU second\n",
		ofShop.peers[0], rate(ofShop.peers[0], "Q1")/rate("canned", "Q1"), cpu("canned", "Q1")/cpu(ofShop.peers[0], "Q1"))
	fmt.Fprint(w, "\npeak memory, MB:")
	for _, p := range ofShop.peers {
		fmt.Fprintf(w, "  %s %d", p, memory[p])
	}
	fmt.Fprintln(w)
}

// table prints a row for each peer and a column for each question.
func table(w io.Writer, title string, cell func(peer, q string) string) {
	fmt.Fprintf(w, "\n| %-40s |", title)
	for _, q := range peers.Questions {
		fmt.Fprintf(w, " %7s |", q.Name)
	}
	fmt.Fprintf(w, "\n|%s|%s\n", strings.Repeat("-", 42), strings.Repeat("--------:|", len(peers.Questions)))
	for _, p := range ofShop.peers {
		fmt.Fprintf(w, "| %-40s |", p)
		for _, q := range peers.Questions {
			fmt.Fprintf(w, " %7s |", cell(p, q.Name))
		}
		fmt.Fprintln(w)
	}
}
