package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/server/internal/positions"
)

// readback is clients that append events at one server and ask another for the rows, with the positions that the
// answers give.
type readback struct {
	appendTo, ask string        // URLs of the servers
	progress      chan struct{} // has a value for each row that was read; nil where nobody wants to know

	unanswered, stale atomic.Int64 // requests that were repeated
}

// clients is how many ask at a time.
const clients = 4

// run reads what is written, n times in all. Its error is the first read that misses it.
func (r *readback) run(ctx context.Context, n int) error {
	if r.progress != nil {
		defer close(r.progress)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var each sync.WaitGroup
	var next atomic.Int64
	for range clients {
		each.Go(func() {
			for i := next.Add(1); i <= int64(n) && ctx.Err() == nil; i = next.Add(1) {
				if err := r.one(ctx, fmt.Sprint(i)); err != nil {
					cancel(fmt.Errorf("read %d: %w", i, err))
				} else if r.progress != nil {
					r.progress <- struct{}{}
				}
			}
		})
	}
	each.Wait()
	http.DefaultClient.CloseIdleConnections()
	return context.Cause(ctx)
}

// report fails the test where a read has missed what was written.
func (r *readback) report(t *testing.T, n int, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d reads saw what was written before; %d requests without an answer, and %d that were STALE, were "+
		"repeated", n, n, r.unanswered.Load(), r.stale.Load())
}

// one appends the event of a task and asks for the task.
func (r *readback) one(ctx context.Context, id string) error {
	events := cloudevents.AppendBatch(nil, []eventlog.Event{taskEvent(id, "Task "+id)})
	res, text, err := r.answer(ctx, r.appendTo+"/events", events, "Content-Type", batchType)
	if err != nil {
		return err
	}
	at := res.Header.Get(positions.Header)
	if res.StatusCode/100 != 2 || at == "" {
		return fmt.Errorf("the append is answered %d %s, with the position %q", res.StatusCode, text, at)
	}
	question, err := json.Marshal(map[string]string{"query": fmt.Sprintf("{ Task(id: %q) { title } }", id)})
	if err != nil {
		return err
	}
	for {
		_, text, err = r.answer(ctx, r.ask+"/graphql", question, "Content-Type", "application/json",
			positions.MinHeader, at)
		if err != nil {
			return err
		}
		if !strings.Contains(text, `"STALE"`) {
			break
		}
		r.stale.Add(1)
	}
	if want := titled("Task " + id); text != want {
		return fmt.Errorf("the answer is %s, and what was written %s", text, want)
	}
	return nil
}

// answer sends a request again and again until there is an answer: a server may be away, and every request may be
// repeated.
func (r *readback) answer(ctx context.Context, url string, body []byte, headers ...string) (*http.Response, string,
	error) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		res, text, err := r.send(ctx, url, body, headers)
		if err == nil && res.StatusCode != http.StatusServiceUnavailable { // it may be starting
			return res, text, nil
		}
		r.unanswered.Add(1)
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, "", fmt.Errorf("%w: the last answer is %v %s", context.Cause(ctx), err, text)
		}
	}
}

func (r *readback) send(ctx context.Context, url string, body []byte, headers []string) (*http.Response, string,
	error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res, string(text), err
}

// TestAClientReadsFromOneServerWhatItHasAppendedAtAnother: both fold the log into the same tables, and a position
// holds with both. Nothing needs to be asked twice.
func TestAClientReadsFromOneServerWhatItHasAppendedAtAnother(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	first := serve(t, d.app, start{args: d.options})
	first.ready(t)
	other := serve(t, d.app, start{args: append(slices.Clone(d.store), "--events", first.url)})
	other.ready(t)
	r := &readback{appendTo: first.url, ask: other.url}
	n := reads(t, 60)
	r.report(t, n, r.run(t.Context(), n))
	if r.stale.Load()+r.unanswered.Load() > 0 {
		t.Error("requests were repeated, and both servers were there all the time")
	}
}

// mortal is a server in a process of its own that is killed and comes back at the same address.
type mortal struct {
	args    []string
	address string
	cmd     *exec.Cmd
	said    *output
}

func live(t *testing.T, args ...string) *mortal {
	t.Helper()
	m := &mortal{args: args, address: "127.0.0.1:0", said: &output{}}
	m.begin(t)
	t.Cleanup(func() { m.kill() })
	return m
}

func (m *mortal) url() string { return "http://" + m.address }

func (m *mortal) begin(t *testing.T) {
	t.Helper()
	cmd, address, log := startProcess(t, append(slices.Clone(m.args), "--listen", m.address)...)
	m.cmd, m.address = cmd, address
	go func() { _, _ = io.Copy(m.said, log) }() // ends with the process
}

// kill ends the process as the loss of power would, as far as a process can be.
func (m *mortal) kill() {
	_ = m.cmd.Process.Signal(os.Kill) // it may have ended
	_ = m.cmd.Wait()                  // it was killed
}

// TestAClientReadsWhatItHasWrittenWhileServersAreKilled: whatever is not answered is repeated, and no answer lacks what
// was written before.
func TestAClientReadsWhatItHasWrittenWhileServersAreKilled(t *testing.T) {
	t.Run("one server", func(t *testing.T) {
		only := live(t, embedded(t)...)
		readWhileKilling(t, only, only)
	})
	t.Run("two servers", func(t *testing.T) {
		d := deploy(t, dynamolocal.Local)
		d.tables(t, "apply").wantExit(t, exitDone, "done")
		first := live(t, d.options...)
		readWhileKilling(t, first, live(t, append(slices.Clone(d.store), "--events", first.url())...))
	})
}

// readWhileKilling appends at the first server and asks the other, which may be the same.
func readWhileKilling(t *testing.T, first, other *mortal) {
	t.Helper()
	n := reads(t, 80)
	kills := max(4, n/200)
	r := &readback{appendTo: first.url(), ask: other.url(), progress: make(chan struct{}, n)}
	done := make(chan error, 1)
	go func() { done <- r.run(t.Context(), n) }()
	for i := range kills {
		for range n / (kills + 1) {
			<-r.progress // it is closed when the clients have ended
		}
		time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond) // where in a request the kill falls
		victim := []*mortal{first, other}[i%2]
		victim.kill()
		victim.begin(t)
	}
	r.report(t, n, <-done)
	if r.unanswered.Load() == 0 {
		t.Error("every request was answered: no kill came at a moment that matters")
	}
	t.Logf("%d kills", kills)
}
