package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// server is a process of the program that serves.
type server struct {
	launch  launch
	path    string // of the program
	flags   []string
	lock    string // of the events, as the program knows it
	address string
	cmd     *exec.Cmd
	told    *told
	opens   chan struct{} // of one that takes its time: closed when it has opened its store, or has ended
	done    chan struct{} // closed when it has ended
	err     error         // how it has ended
}

// Times that the process gets: to open its store before requests are handed on to it nevertheless, and to end after it
// was asked to. It answers what is in flight for up to 30 s then.
const (
	toOpen = time.Minute
	toEnd  = time.Minute
)

// startPatiently starts the process, and returns where it listens when it answers. Where another process takes the
// address that was chosen, it chooses another.
func (srv *server) startPatiently(ctx context.Context, s *session) (*url.URL, error) {
	for attempt := 1; ; attempt++ {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		if err := srv.start(address, s); err != nil {
			return nil, err
		}
		if err := srv.up(ctx, toOpen); err == nil {
			return serverURL(address), nil
		}
		srv.stop(s.out)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if attempt == 3 || isFree(address) {
			return nil, srv.why()
		}
	}
}

// freeAddress is an address of this machine that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find an address for the server: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// isFree reports whether nobody listens at an address.
func isFree(address string) bool {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// start starts the process, in the folder of the project.
func (srv *server) start(address string, s *session) error {
	srv.address = address
	srv.told = &told{to: s.out, hide: address, list: s.cfg.command() + " deadletters list --url " + s.url}
	srv.done, srv.err = make(chan struct{}), nil
	srv.cmd = exec.Command(srv.path, slices.Concat([]string{"serve"}, srv.flags, []string{"--listen", address})...)
	srv.cmd.Dir = s.root
	srv.cmd.Env = os.Environ()
	if _, given := os.LookupEnv(logFormat); s.cfg.Terminal && !given {
		srv.cmd.Env = append(srv.cmd.Env, logFormat+"=text")
	}
	srv.cmd.Stdout, srv.cmd.Stderr = srv.told, srv.told
	srv.cmd.SysProcAttr = attributes()
	srv.cmd.WaitDelay = time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the process with the thread that has started it
		err := srv.cmd.Start()
		started <- err
		if err == nil {
			srv.err = srv.cmd.Wait()
			close(srv.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", srv.path, err)
	}
	return nil
}

// logFormat is the variable of the server's --log-format: it sees a pipe where there may be a terminal.
const logFormat = "FOLDQL_LOG_FORMAT"

// up returns when the server answers, or nil after a time: its store may be large, and it says itself that it starts.
func (srv *server) up(ctx context.Context, patience time.Duration) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		select {
		case <-tick.C:
			if srv.open(ctx) {
				return nil
			}
		case <-srv.done:
			return srv.why()
		case <-enough.C:
			srv.opens = make(chan struct{})
			go srv.awaitOpen(srv.opens)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitOpen closes a channel when the server has opened its store, or has ended.
func (srv *server) awaitOpen(opens chan<- struct{}) {
	defer close(opens)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !srv.open(context.Background()) {
		select {
		case <-tick.C:
		case <-srv.done:
			return
		}
	}
}

// opening reports whether the server has not opened its store yet, so that it cannot be asked of its log.
func (srv *server) opening() bool { return srv.opened() != nil }

// opened is closed when a server that takes its time has opened its store; nil of any other, and of none.
func (srv *server) opened() <-chan struct{} {
	if srv == nil {
		return nil
	}
	return srv.opens
}

// open reports whether the server has opened its store: whatever else keeps it from being ready, it answers.
func (srv *server) open(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+srv.address+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct{ Why string }
	return json.NewDecoder(resp.Body).Decode(&answer) == nil && answer.Why != "starting"
}

// greet asks a server that has opened its store for what only its log and its rows tell.
func (srv *server) greet(ctx context.Context, s *session) {
	s.draft.started(srv)
	if err := s.draft.served(srv); err != nil {
		s.out.say("%v", err)
	}
	srv.renewStale(ctx, s)
}

// ended is closed when the server has ended; nil of none.
func (srv *server) ended() <-chan struct{} {
	if srv == nil {
		return nil
	}
	return srv.done
}

// endError says how a server has ended, and what it has told last.
type endError struct{ how, told string }

// Error implements error.
func (e *endError) Error() string { return strings.TrimSpace(e.how + "\n" + e.told) }

// why is how the server has ended.
func (srv *server) why() error {
	how := "it ended without an error"
	if srv.err != nil {
		how = srv.err.Error()
	}
	return &endError{how, srv.told.last()}
}

// stop ends the process: it answers what is in flight, and closes its store.
func (srv *server) stop(out *console) {
	select {
	case <-srv.done:
		return
	default:
	}
	if srv.cmd.Process.Signal(syscall.SIGTERM) != nil {
		_ = srv.cmd.Process.Kill() // where the system has no such signal; or it has just ended
	}
	enough := time.NewTimer(toEnd)
	defer enough.Stop()
	select {
	case <-srv.done:
	case <-enough.C:
		out.say("the server does not end within %s, and is killed", toEnd)
		_ = srv.cmd.Process.Kill()
		<-srv.done
	}
}

// remove removes the program of a server that has ended.
func (srv *server) remove(out *console) {
	if err := os.RemoveAll(filepath.Dir(srv.path)); err != nil {
		out.say("cannot remove a program that is not needed any more: %v", err)
	}
}
