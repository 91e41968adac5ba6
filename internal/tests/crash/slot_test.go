package crash

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"syscall"
	"time"
)

// slot is a place where a server runs, which is started again whenever it has ended, as a supervisor would.
type slot struct {
	launch func() (*process, error)
	report *report
	store  string      // as the report names it
	amid   func() bool // whether servers have last told of copies that are yet to follow
	p      *process    // nil while none runs
	frozen bool
}

// up sees to it that a server runs. Faults may end one before it listens, though not for ever.
func (s *slot) up() error {
	if s.p != nil {
		select {
		case <-s.p.done:
			s.report.died++
			s.p = nil
		default:
			return nil
		}
	}
	var err error
	for range 25 {
		if s.p, err = s.launch(); err == nil {
			return nil
		}
		s.report.failedStarts++
	}
	return fmt.Errorf("the server cannot be started: %w", err)
}

// kill ends the server as the loss of power would, as far as a process can be.
func (s *slot) kill() {
	if s.p == nil {
		return
	}
	if s.amid() {
		s.report.amid.add(s.store, 1)
	}
	s.p.kill()
	s.p, s.frozen = nil, false
	s.report.kills++
}

// freeze stops the server in its tracks, and wake lets it go on.
func (s *slot) freeze() {
	if s.p != nil && s.p.cmd.Process.Signal(syscall.SIGSTOP) == nil {
		s.frozen = true
		s.report.freezes++
	}
}

func (s *slot) wake() {
	if s.p != nil && s.frozen {
		_ = s.p.cmd.Process.Signal(syscall.SIGCONT) // it may have been killed
		s.frozen = false
	}
}

// mostStill is how long a server may show no progress. How long it takes in all is for the machine to say.
const mostStill = 10 * time.Minute

// reach returns when every projection has folded the first n events.
func (s *slot) reach(ctx context.Context, n int) error {
	return s.until(ctx, fmt.Sprintf("fold %d events", n), func(all []status) bool { return folded(all, uint64(n)) })
}

// complete returns when the rows of every projection can be served.
func (s *slot) complete(ctx context.Context) error {
	return s.until(ctx, "fold what there was", func(all []status) bool {
		return folded(all, 0) && !slices.ContainsFunc(all, func(p status) bool { return p.Rebuilding })
	})
}

// until returns when the projections are as wanted. An event that stops one is skipped, as an operator would.
func (s *slot) until(ctx context.Context, what string, there func([]status) bool) error {
	var seen []status
	moved := time.Now()
	for {
		all, err := statuses(ctx, s.p.url, "")
		if err == nil && there(all) {
			return nil
		}
		if err == nil && !reflect.DeepEqual(all, seen) {
			seen, moved = all, time.Now()
		}
		if time.Since(moved) > mostStill {
			return fmt.Errorf("the projections have not come further for %v, and are yet to %s: %+v", mostStill, what, seen)
		}
		for _, p := range all {
			if p.Stop != nil {
				s.decide(ctx, "skip", p.Projection, p.Stop.Event)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the projections are yet to %s: %w: %+v", what, ctx.Err(), seen)
		case <-s.p.done:
			return fmt.Errorf("the server ended while it caught up: %w", s.p.err)
		case <-time.After(100 * time.Millisecond): // the next look, which costs the server reads of what it builds
		}
	}
}

// decide retries or skips an event.
func (s *slot) decide(ctx context.Context, how, projection, event string) {
	body := map[string]string{"projection": projection, "event": event}
	if call(ctx, http.MethodPost, s.p.url+"/admin/dead-letters/"+url.PathEscape(how), body, nil) == nil {
		s.report.decided++
	}
}

// decideAny retries or skips an event that is a dead letter, the nth that a server knows of. That it cannot, since the
// server is killed or the event fails again, does not matter.
func (s *slot) decideAny(ctx context.Context, n int, how string) {
	if s.p == nil || s.frozen {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var list struct {
		DeadLetters []struct{ Projection, Event, Behind string }
	}
	if call(ctx, http.MethodGet, s.p.url+"/admin/dead-letters?limit=1000", nil, &list) != nil ||
		len(list.DeadLetters) == 0 {
		return
	}
	e := list.DeadLetters[n%len(list.DeadLetters)]
	s.decide(ctx, how, e.Projection, cmp.Or(e.Behind, e.Event)) // the one that it waits for comes first
}

// call sends JSON and reads the JSON of the answer.
func call(ctx context.Context, method, address string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		err = errors.New(res.Status)
	} else if answer != nil {
		err = json.NewDecoder(res.Body).Decode(answer)
	}
	return errors.Join(err, res.Body.Close())
}
