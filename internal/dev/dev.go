// Package dev runs the server of a project while it is developed: it generates the code, builds the server, runs it
// over the data that are there, and does again what a change of a file asks for. What is wrong stands in the terminal
// and in GraphiQL, while the former server goes on serving.
//
// One goroutine does all of this, a step at a time (session). What it does next follows from what files hold, compared
// with what was generated and built last; the watcher only says when to look.
package dev

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/foldql/foldql/internal/brokenpipe"
	"github.com/foldql/foldql/internal/dev/front"
	"github.com/foldql/foldql/internal/dev/watch"
	"github.com/foldql/foldql/internal/gen"
)

// Config says what is developed, and how.
type Config struct {
	// Dir is a folder of the project.
	Dir string
	// Listen is the address to answer at, of this machine alone.
	Listen string
	// Flags are those that the server gets after those of the project's configuration.
	Flags []string
	// Binary is where the program is put once it serves, for its other commands; relative to the project, "" for
	// nowhere.
	Binary string
	// Out is where all is told; on a terminal the server writes its log as text.
	Out      io.Writer
	Terminal bool
	// Again has a line each time that somebody wants a build and a start without a change; nil where nobody does.
	Again io.Reader
}

// nextStart is when a server starts where none runs.
func (c *Config) nextStart() string {
	if c.Again == nil {
		return "with the next change"
	}
	return "with the next change, or when you press Enter"
}

// command is the program of the project, as commands of it are begun.
func (c *Config) command() string {
	if c.Binary == "" {
		return "server"
	}
	return c.Binary
}

// Run develops the project until the context ends. The server has then ended, too.
func Run(ctx context.Context, cfg Config) (err error) {
	if _, _, err := net.SplitHostPort(cfg.Listen); err != nil {
		return fmt.Errorf("listen at %s: that is no address: give a host and a port, such as 127.0.0.1:8080", cfg.Listen)
	}
	if !front.Loopback(cfg.Listen) {
		return fmt.Errorf("listen at %s: whoever reaches it would see what is wrong with the code: give an address of "+
			"this machine, such as 127.0.0.1:8080", cfg.Listen)
	}
	root, err := gen.Find(cfg.Dir)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("%w: stop what uses the address, or give another one with --listen", err)
	}
	defer listener.Close()
	defer brokenpipe.FailWrites()() // at Ctrl-C a tee that reads this ends too, and the server would be left
	temp, err := newProgramsFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	watcher, err := watch.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	s := newSession(cfg, root, temp, watcher)
	if s.draft, err = newDraft(root, s.out.say); err != nil {
		return err
	}
	s.url = "http://" + listener.Addr().String()
	closeFront := answer(listener, s.board, s.failed)
	defer closeFront()
	return s.run(ctx)
}

// answer answers at a listener until it is closed; failed gets what it dies of.
func answer(listener net.Listener, board *front.Board, failed chan<- error) (closeFront func()) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{
		Handler:           front.Handler(board, front.Config{ErrorLog: log.New(io.Discard, "", 0)}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    128 << 10, // as that of the server
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("answer at %s: %w", listener.Addr(), err)
		}
	}()
	return func() {
		cancel() // ends the streams of states
		end, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		if srv.Shutdown(end) != nil {
			_ = srv.Close() // who has not got his answer by now gets none
		}
	}
}

// lines has a value for each line that is read, until there are no more. A terminal has none for a process in the
// background, which tries again until it is in the foreground.
func lines(from io.Reader) <-chan struct{} {
	if from == nil {
		return nil
	}
	failInBackground()
	read := make(chan struct{})
	go func() {
		for {
			scanner := bufio.NewScanner(from)
			for scanner.Scan() {
				read <- struct{}{}
			}
			if !errors.Is(scanner.Err(), syscall.EIO) {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	return read
}
