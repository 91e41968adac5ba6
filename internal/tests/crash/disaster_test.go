package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// disaster ends all servers, and data is not what it was when they are started again: rows are lost or older, the log
// is older, or it diverged.
func (tr *trial) disaster(ctx context.Context) error {
	if err := tr.allUp(); err != nil {
		return err
	}
	covered := tr.covered(ctx)
	tr.killAll()
	switch tr.rng.IntN(4) {
	case 0:
		return tr.shortenLog(ctx, covered)
	case 1:
		return tr.divertLog(ctx, covered)
	}
	tr.report.lost++
	return tr.world.lose(ctx, tr)
}

// covered is the furthest checkpoint that a server tells of.
func (tr *trial) covered(ctx context.Context) (offset uint64) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, s := range tr.slots {
		all, err := statuses(ctx, s.p.url, "")
		if err != nil {
			continue // a server may be away, or start
		}
		for _, p := range all {
			for _, at := range p.Partitions {
				offset = max(offset, at.Checkpoint)
			}
		}
	}
	return offset
}

// shortenLog starts a server over an older copy of the log, which must fold nothing of it where rows are further, and
// brings the log back.
func (tr *trial) shortenLog(ctx context.Context, covered uint64) error {
	tr.report.restored++
	was, n := tr.lines, tr.rng.IntN(len(tr.lines))
	if err := tr.logIs(was[:n]); err != nil {
		return err
	}
	if err := tr.slots[0].up(); err != nil {
		return err
	}
	if covered <= uint64(n) {
		tr.wait()
	} else if err := tr.refused(ctx); err != nil {
		return fmt.Errorf("checkpoint %d, and a log of %d events: %w", covered, n, err)
	}
	tr.slots[0].kill()
	return tr.logIs(was)
}

// divertLog has the log go another way from an older copy on, and an operator accept it.
func (tr *trial) divertLog(ctx context.Context, covered uint64) error {
	tr.report.diverted++
	was, n := tr.lines, tr.rng.IntN(len(tr.lines))
	other, err := tr.on.events(tr.rng)
	if err != nil {
		return err
	}
	other = append(was[:n:n], other[min(n, len(other)):]...)
	tr.whole = other[:max(n, min(len(other), len(tr.whole)))]
	if err := tr.logIs(tr.whole[:min(len(tr.whole), len(was))]); err != nil {
		return err
	}
	if !slices.Equal(was[:covered], tr.lines[:min(covered, uint64(len(tr.lines)))]) {
		if err := tr.slots[0].up(); err != nil {
			return err
		}
		if err := tr.refused(ctx); err != nil {
			return fmt.Errorf("checkpoint %d, and a log that diverged after %d events: %w", covered, n, err)
		}
		tr.slots[0].kill()
	}
	if err := tr.acceptLog(ctx); err != nil {
		return err
	}
	return tr.world.makeTables(ctx, tr)
}

// acceptLog has an operator accept the log as it is.
func (tr *trial) acceptLog(ctx context.Context) error {
	tr.asker.forget() // what was answered was about another history
	accept := exec.CommandContext(ctx, tr.on.bin, "log", "accept", "--yes", "--store", tr.world.store(), "--events",
		"file:"+tr.file)
	accept.Env = environment()
	if out, err := accept.CombinedOutput(); err != nil {
		return fmt.Errorf("accept the log: %w\n%s", err, out)
	}
	return nil
}

// refused fails unless the first server says that its log is another, and is ready at no time.
func (tr *trial) refused(ctx context.Context) error {
	p := tr.slots[0].p
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if call(ctx, http.MethodGet, p.url+"/readyz", nil, nil) == nil {
			return errors.New("the server is ready")
		}
		said, err := os.ReadFile(p.log)
		if err != nil {
			return err
		}
		if bytes.Contains(said, []byte("the log is not the one that the rows are folded from")) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not say that its log is another: %w", ctx.Err())
		case <-p.done:
			return fmt.Errorf("the server has ended: %w", p.err)
		case <-time.After(5 * time.Millisecond): // the next look
		}
	}
}

// grow ends all servers and has the log go on.
func (tr *trial) grow() error {
	left := len(tr.whole) - len(tr.lines)
	if left == 0 {
		return nil
	}
	tr.killAll()
	return tr.logIs(tr.whole[:len(tr.lines)+1+tr.rng.IntN(left)])
}

// logIs writes the log, while no server runs but those of a stream.
func (tr *trial) logIs(lines []string) error {
	tr.lines = lines
	tr.asker.follows(lines)
	if tr.stream != nil {
		return errors.Join(tr.stream.has(lines), writeLines(tr.file, lines))
	}
	if tr.on.partitions > 1 {
		return writeParted(tr.file, lines, tr.on.partitions)
	}
	return writeLines(tr.file, lines)
}

func writeLines(file string, lines []string) error {
	text := strings.Join(lines, "\n")
	if len(lines) > 0 {
		text += "\n"
	}
	return os.WriteFile(file, []byte(text), 0o600)
}
