package dynamolocal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Options say how an engine runs.
type Options struct {
	Engine Engine
	Dir    string // where it keeps its data; "" is in memory
	Port   int    // 0 is a free one
}

// Process is an engine that runs.
type Process struct {
	URL    string
	log    *os.File       // already removed from its folder
	cmd    *exec.Cmd      // of the engine
	claim  net.PacketConn // keeps other processes from choosing the same port
	exited chan struct{}
}

// Time limits of an engine.
const (
	readyWithin = 90 * time.Second // on a machine that is busy with other tests
	stopWithin  = 5 * time.Second
)

// Run installs an engine where it is missing, starts it, and waits until it answers. It ends with this process at the
// latest, on Linux even where that is killed.
func Run(ctx context.Context, o Options) (*Process, error) {
	command, err := Install(ctx, o.Engine)
	if err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("dynamolocal: %w", err)
		}
	}
	p := &Process{exited: make(chan struct{})}
	if p.log, err = unnamedFile(); err != nil {
		return nil, err
	}
	if o.Port == 0 {
		if o.Port, p.claim, err = freePort(); err != nil {
			return nil, err
		}
	}
	p.URL = "http://127.0.0.1:" + strconv.Itoa(o.Port)
	command = append(command, o.Engine.arguments(o)...)
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = p.log, p.log, child()
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("dynamolocal: start %s: %w", o.Engine, err)
	}
	if err := p.ready(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("dynamolocal: start %s: %w\n%s", o.Engine, err, p.Log()), p.Stop())
	}
	return p, nil
}

// start begins the engine in a thread that lasts as long as it: the kernel kills it with that thread.
func (p *Process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in cmd.ProcessState
			close(p.exited)
		}
	}()
	return <-started
}

// ready waits until the engine answers whatever.
func (p *Process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if p.answers(ctx) {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended by itself: %v", p.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("it did not answer: %w", ctx.Err())
		case <-poll.C:
		}
	}
}

func (p *Process) answers(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return true
}

// Exited is closed when the engine has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stop ends the engine, and waits for that.
func (p *Process) Stop() error {
	if p.claim != nil {
		defer p.claim.Close()
	}
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(stopWithin, func() { _ = p.cmd.Process.Kill() }) // fails where it has ended meanwhile
	defer timer.Stop()
	<-p.exited
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("dynamolocal: stop the engine: %w", err)
	}
	return nil
}

// Log returns the end of what the engine has printed.
func (p *Process) Log() string {
	const most = 64 << 10
	info, err := p.log.Stat()
	if err != nil {
		return err.Error()
	}
	from := max(0, info.Size()-most)
	text := make([]byte, info.Size()-from)
	n, err := p.log.ReadAt(text, from)
	if err != nil && n == 0 && len(text) > 0 {
		return err.Error()
	}
	return string(text[:n])
}

// unnamedFile returns a file that is gone when nobody has it open any more.
func unnamedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "dynamolocal-*.log")
	if err != nil {
		return nil, fmt.Errorf("dynamolocal: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, fmt.Errorf("dynamolocal: %w", err)
	}
	return f, nil
}

// freePort chooses a port that nobody listens at, below those that systems give away by themselves. The UDP port of the
// same number is held as long as it is used, so that no two processes choose the same.
func freePort() (int, net.PacketConn, error) {
	var last error
	for range 100 {
		port := 20000 + rand.IntN(12000)
		at := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		claim, err := net.ListenPacket("udp4", at)
		if err != nil {
			last = err
			continue
		}
		test, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
		if err != nil {
			claim.Close()
			last = err
			continue
		}
		test.Close()
		return port, claim, nil
	}
	return 0, nil, fmt.Errorf("dynamolocal: no port is free: %w", last)
}
