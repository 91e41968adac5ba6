package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/release"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// stream is a log in NATS, which grows while servers read it. Its one partition has the name of a file's, so that what
// is on record of events is what it would be of the same lines in a file.
type stream struct {
	t         testing.TB
	server    *natsserver.Server
	js        jetstream.JetStream
	published int
}

func newStream(t testing.TB) (*stream, error) {
	server := natsserver.Start(t, nil)
	s := &stream{t: t, server: server, js: server.Client(t)}
	one := jetstream.StreamConfig{Name: filesource.Partition, Subjects: []string{"ledger"}}
	if _, err := s.js.CreateStream(t.Context(), one); err != nil {
		return nil, fmt.Errorf("create the stream: %w", err)
	}
	return s, nil
}

func (s *stream) url() string { return "nats://" + s.server.Address() + "/" + filesource.Partition }

// has appends the lines that the stream does not have yet.
func (s *stream) has(lines []string) error {
	for s.published < len(lines) {
		if err := s.publish(lines[s.published]); err != nil {
			return fmt.Errorf("publish event %d: %w", s.published+1, err)
		}
		s.published++
	}
	return nil
}

// publish appends the next line, once. On a machine that is busy an answer may come too late, and what it was is not
// known.
func (s *stream) publish(line string) (err error) {
	for range 10 {
		_, err = s.js.Publish(s.t.Context(), "ledger", []byte(line),
			jetstream.WithExpectLastSequence(uint64(s.published)))
		var wrong *jetstream.APIError
		switch {
		case errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			return nil // it was published before
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout):
			return err
		}
	}
	return err
}

// restart has the servers lose their connections, and find the stream again.
func (s *stream) restart() { s.server.Restart(s.t) }

// evolve does to the log and to the servers what happens to those of a stream: events come, NATS is restarted, and the
// next release is deployed beside the present one.
func (tr *trial) evolve(ctx context.Context) error {
	switch tr.rng.IntN(4) {
	case 0:
		left := len(tr.whole) - len(tr.lines)
		return tr.logIs(tr.whole[:len(tr.lines)+tr.rng.IntN(left+1)])
	case 1:
		tr.report.reconnects++
		tr.stream.restart()
	case 2:
		return tr.deploy(ctx)
	}
	return nil
}

// release is the environment of programs of the release that is deployed last.
func (tr *trial) release() []string {
	if tr.deployed.Load() {
		return []string{"LEDGER_RELEASE=" + tr.next}
	}
	return nil
}

// deploy starts a server of the next release beside the others, or in the place of the one that there may be.
func (tr *trial) deploy(ctx context.Context) error {
	if tr.deployed.Load() {
		return nil
	}
	// Of two releases that find no rows which were complete once none knows which is the later one.
	if err := tr.slots[0].up(); err != nil {
		return err
	}
	if err := tr.slots[0].complete(ctx); err != nil {
		return err
	}
	tr.deployed.Store(true)
	tr.report.deployed++
	next := tr.newSlot(tr.args, slices.Concat(tr.env, tr.release()))
	launch := next.launch
	next.launch = func() (*process, error) { // which tables it needs hangs on what the others have noted by then
		if err := tr.world.makeTables(ctx, tr); err != nil {
			return nil, err
		}
		return launch()
	}
	if tr.world.most() > 1 {
		tr.slots = append(tr.slots, next)
	} else {
		tr.slots[0].kill()
		tr.slots[0] = next
	}
	return next.up()
}

// retire leaves a server of the next release alone.
func (tr *trial) retire(ctx context.Context) error {
	if err := tr.deploy(ctx); err != nil {
		return err
	}
	next := tr.slots[len(tr.slots)-1]
	tr.killAll()
	tr.slots = []*slot{next}
	if err := next.up(); err != nil {
		return err
	}
	return next.switched(ctx)
}

// switched returns when the rows that serve are those of the server's own release. It does what an operator would: an
// event that stops those that are built is skipped, and those that are complete are switched to where they wait because
// of dead letters that are new. Such are right: an event that was tried in vain behind others, since one that blocked
// it was skipped, has its own place again in another release, and others may fail for it.
func (s *slot) switched(ctx context.Context) error {
	var seen string
	moved := time.Now()
	for {
		var reply struct {
			Rebuilds []struct {
				Projections    []string
				Serving        *struct{ Own bool }
				NewDeadLetters int
				Waits          string
				Progress       map[string]struct {
					Folded, Copied, Cascades int
					Complete                 bool
					Stop                     *struct{ Event string }
				}
			}
		}
		err := call(ctx, http.MethodGet, s.p.url+"/admin/rebuilds", nil, &reply)
		b, _ := json.Marshal(reply) // without a func or a channel
		text := string(b)
		old := false
		for _, r := range reply.Rebuilds {
			old = old || r.Serving == nil || !r.Serving.Own
			if r.NewDeadLetters > 0 && r.Waits != "" {
				names := map[string][]string{"names": r.Projections}
				err = errors.Join(err, call(ctx, http.MethodPost, s.p.url+"/admin/rebuild/switch", names, nil))
			}
			for projection, at := range r.Progress {
				if at.Stop != nil {
					s.decide(ctx, "skip", projection, at.Stop.Event)
				}
			}
		}
		switch {
		case err == nil && !old && len(reply.Rebuilds) > 0:
			return nil
		case err == nil && text != seen:
			seen, moved = text, time.Now()
		case time.Since(moved) > mostStill:
			return fmt.Errorf("the rows of the next release do not serve, and did not come further for %v: %s", mostStill, seen)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the rows of the next release do not serve: %w: %s", ctx.Err(), seen)
		case <-s.p.done:
			return errors.Join(errors.New("the server ended while it built rows"), s.p.err)
		case <-time.After(100 * time.Millisecond): // the next look, which costs the server reads of what it builds
		}
	}
}

// verify compares the rows that the trial's servers have folded, those of the release that was deployed last.
func (tr *trial) verify(ctx context.Context) (*verifier.Verdict, error) {
	if tr.deployed.Load() {
		defer release.Apply(tr.next, model.All)()
	}
	return tr.on.verify(ctx, tr.world.store(), tr.file, tr.asker.answers)
}
