package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/sample"
)

// large measures a shop that is so many times as large as that of the other parts: how fast its log is folded at the
// beginning and at the end, what it takes on disk, how soon a server is ready again, and how long queries take beside
// those of the small one.
func large(ctx context.Context, out io.Writer, dir string, scale int, d time.Duration) error {
	small := filepath.Join(dir, "small")
	if err := os.MkdirAll(small, 0o700); err != nil {
		return err
	}
	if err := fill(ctx, out, small); err != nil {
		return err
	}
	w := workload{[]string{"foldql"}, peers.Questions, 2000, peers.CacheMB}
	before, _, err := compare(ctx, small, w, 1, d)
	if err != nil {
		return err
	}
	size := &peers.Size
	size.Customers, size.Products, size.Orders = scale*size.Customers, scale*size.Products, scale*size.Orders
	dir = filepath.Join(dir, "large")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Link(serverOf(small), serverOf(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := fillLarge(ctx, out, dir); err != nil {
		return err
	}
	began := time.Now()
	p, err := startPeer("foldql", dir, peers.CacheMB)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  ready again in %s\n", time.Since(began).Round(time.Millisecond))
	p.stop()
	after, _, err := compare(ctx, dir, w, 1, d)
	if err != nil {
		return err
	}
	for _, q := range w.questions {
		was, is := before["foldql"][q.Name][0].p99, after["foldql"][q.Name][0].p99
		fmt.Fprintf(out, "  %s: p99 %.2f ms, %.1f times the %.2f ms of the small shop\n", q.Name, is.Seconds()*1000,
			is.Seconds()/was.Seconds(), was.Seconds()*1000)
	}
	return nil
}

// fillLarge fills a log, and has a server fold it. What is there already is taken as it is.
func fillLarge(ctx context.Context, out io.Writer, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "rows")); err == nil {
		return nil
	}
	began := time.Now()
	n, raw, err := importSample(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  %d events, %d MB as lines, imported at %.0f/s\n", n, raw>>20,
		float64(n)/time.Since(began).Seconds())
	p, err := startFolding(dir)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := foldLarge(ctx, out, p.addr, n); err != nil {
		return err
	}
	rows, err := bytesIn(filepath.Join(dir, "rows"))
	if err != nil {
		return err
	}
	log, err := bytesIn(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  on disk: the rows %d bytes for each event, the log %d, of %d as a line\n", rows/int64(n),
		log/int64(n), raw/int64(n))
	mb, err := p.peakMB()
	fmt.Fprintf(out, "  peak memory of the fold: %d MB\n", mb)
	return err
}

// startFolding starts a server that has all to fold yet.
func startFolding(dir string) (*peer, error) {
	cmd := serveCommand(dir)
	addr, err := started(cmd, true)
	return &peer{name: "foldql", addr: addr, cmd: cmd}, err
}

// importSample appends the events of the shop to the log of a directory.
func importSample(ctx context.Context, dir string) (n int, bytes int64, err error) {
	cmd := exec.CommandContext(ctx, serverOf(dir), "events", "import", "-", "--store", "embedded:"+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	to := bufio.NewWriterSize(in, 1<<20)
	var line []byte
	for e := range sample.Events(peers.Size) {
		line = append(cloudevents.Append(line[:0], &e), '\n')
		if _, err = to.Write(line); err != nil {
			break
		}
		n, bytes = n+1, bytes+int64(len(line))
	}
	return n, bytes, errors.Join(err, to.Flush(), in.Close(), cmd.Wait())
}

// foldLarge prints the rate of the slowest projection over the first and the last tenth of the log.
func foldLarge(ctx context.Context, out io.Writer, addr string, n int) error {
	began := time.Now()
	var tenth, nineTenths time.Duration
	for look := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
		at, err := foldedLeast(addr)
		if err != nil {
			return err
		}
		passed := time.Since(began)
		if tenth == 0 && at >= n/10 {
			tenth = passed * time.Duration(n/10) / time.Duration(at)
		}
		if nineTenths == 0 && at >= n-n/10 {
			nineTenths = passed
		}
		if at >= n {
			first, last := float64(n/10)/tenth.Seconds(), float64(n/10)/(passed-nineTenths).Seconds()
			fmt.Fprintf(out, "  folded at %.0f events/s: the first tenth at %.0f, the last at %.0f, %.2f of that\n",
				float64(n)/passed.Seconds(), first, last, last/first)
			return nil
		}
	}
}

// foldedLeast is how many events the slowest projection has folded.
func foldedLeast(addr string) (int, error) {
	resp, err := http.Get("http://" + addr + "/admin/projections")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var reply struct {
		Projections []struct {
			Partitions []struct{ Checkpoint int }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return 0, err
	}
	least := -1
	for _, p := range reply.Projections {
		at := 0
		for _, partition := range p.Partitions {
			at += partition.Checkpoint
		}
		if least < 0 || at < least {
			least = at
		}
	}
	return max(least, 0), nil
}

// bytesIn is how many bytes the files of a directory have.
func bytesIn(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
