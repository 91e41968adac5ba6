package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/sample"
)

// What a data directory holds beside the rows.
func serverOf(dir string) string { return filepath.Join(dir, "server") }
func eventsOf(dir string) string { return filepath.Join(dir, "events.jsonl") }

// fold fills the data directory by folding the events of the shop, and measures folds: that one, the one of a package
// registry, and what the store takes in without a fold.
func fold(ctx context.Context, out io.Writer, dir, registry string) error {
	if err := fill(ctx, out, dir); err != nil {
		return err
	}
	if err := foldRegistry(ctx, out, dir, registry); err != nil {
		return err
	}
	if err := foldBesideIdleProjections(ctx, out, dir); err != nil {
		return err
	}
	if err := foldBesideBulk(ctx, out, dir); err != nil {
		return err
	}
	return bulk(ctx, out, dir)
}

// fill fills the data directory by folding the events of the shop.
func fill(ctx context.Context, out io.Writer, dir string) error {
	if err := build(ctx, ".", serverOf(dir)); err != nil {
		return err
	}
	n, err := writeEvents(eventsOf(dir), sample.Events(peers.Size))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "fold, durable:")
	return replay(ctx, out, "the shop, 11 read models", serverOf(dir), eventsOf(dir), dir, n)
}

// build builds the server of a module.
func build(ctx context.Context, module, to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", to, "./cmd/server")
	cmd.Dir = module
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server of %s: %w\n%s", module, err, said)
	}
	return nil
}

// writeEvents writes events to a file and returns how many there are.
func writeEvents(path string, events iter.Seq[eventlog.Event]) (n int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for e := range events {
		line = append(cloudevents.Append(line[:0], &e), '\n')
		if _, err := w.Write(line); err != nil {
			return n, err
		}
		n++
	}
	return n, w.Flush()
}

// replay folds a file with a server and prints what that took. Nothing is folded where the data are there already.
func replay(ctx context.Context, out io.Writer, what, server, events, dir string, n int) error {
	took, cpu, err := timed(ctx, server, "replay", "--store", "embedded:"+dir, "--events", "file:"+events)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %s: %d events in %s, %.0f events/s, %s of CPU\n", what, n,
		took.Round(10*time.Millisecond), float64(n)/took.Seconds(), cpu.Round(10*time.Millisecond))
	return nil
}

// timed runs a command, and returns how long that took.
func timed(ctx context.Context, command string, args ...string) (wall, cpu time.Duration, err error) {
	cmd := exec.CommandContext(ctx, command, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// foldRounds is how often the fold of the registry is measured; every round is printed.
const foldRounds = 3

func foldRegistry(ctx context.Context, out io.Writer, dir, events string) error {
	events, err := filepath.Abs(events)
	if err != nil {
		return err
	}
	n, err := countLines(events)
	if err != nil {
		return fmt.Errorf("count the events of the registry: %w", err)
	}
	server := filepath.Join(dir, "registry-server")
	if err := build(ctx, "examples/registry", server); err != nil {
		return err
	}
	for range foldRounds {
		store := filepath.Join(dir, "registry")
		if err := replay(ctx, out, "a package registry, 3 read models", server, events, store, n); err != nil {
			return err
		}
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	return nil
}

func countLines(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, err
	}
	lines := bufio.NewReaderSize(z, 1<<20)
	for {
		switch _, err := lines.ReadSlice('\n'); {
		case err == nil:
			n++
		case err == io.EOF:
			return n, nil
		case err != bufio.ErrBufferFull:
			return n, err
		}
	}
}
