package dev

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/foldql/foldql/internal/dev/sources"
)

// build is the last one: of what, and the flags that its server was given.
type build struct {
	done  bool
	from  sources.Contents
	flags []string

	last    seen // the project as it was seen last
	changed bool // since the build, or since the server has ended
}

// notice remembers that the project has changed, also where it stands again as it did before that.
func (b *build) notice(now seen) {
	b.changed = b.changed || !now.same(b.last)
	b.last = now
}

// due reports whether the server is to be built and started: it is another by now, or none runs, and any change is to
// start one.
func (b *build) due(now seen, runs bool) bool {
	return b.outdated(now) || !runs && b.changed
}

// outdated reports whether something that is compiled has changed, or the flags have.
func (b *build) outdated(now seen) bool {
	return !b.done || !maps.Equal(b.from, now.files) || !slices.Equal(b.flags, now.flags)
}

// renew builds the program, and has it serve if it is another than the one that serves. It returns whether there may
// be more to do.
func (s *session) renew(ctx context.Context, now seen, force bool) (more bool) {
	s.board.Doing("building the server")
	if s.list(ctx, now.inputs.Server) { // imports have changed, so there is more to look at
		return true
	}
	s.out.say("building the server")
	if !s.built.done {
		s.out.say("the first time this takes some minutes, because every package is compiled")
	}
	began := time.Now()
	program, err := s.compile(ctx, now)
	switch {
	case errors.Is(err, errSuperseded):
		return true
	case ctx.Err() != nil:
		return false
	}
	s.built = build{done: true, from: now.files, flags: now.flags, last: now}
	if err != nil {
		s.failFor("build the server", err)
		return false
	}
	s.out.say("built in %s", took(began))
	s.draft.built(s.server)
	s.launch(ctx, launch{program, fmt.Sprint(now.flags)}, now.flags, force)
	return false
}

// compile builds the program of the project as it was seen, and returns the hash of it. It gives up where that is not
// how the project stands any more.
func (s *session) compile(ctx context.Context, now seen) (hash string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- goBuild(ctx, s.root, now.inputs.Server, target(s.temp)) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				return "", err
			}
			return hashOf(target(s.temp))
		case <-s.watcher.Changes():
			if later, err := s.look(); err == nil && !later.same(now) {
				cancel()
				<-done
				return "", errSuperseded
			}
		}
	}
}

// target is where the program is built. It is always the same file, because the go command leaves one that is up to
// date as it is.
func target(temp string) string { return filepath.Join(temp, "build", "server"+executable) }

// executable is how names of programs end.
var executable = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// goBuild builds a program. Without debugging information it is linked in two thirds of the time; what version control
// says of the folder is not in it, so a commit makes no other program.
func goBuild(ctx context.Context, dir, program, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-w", "-o", to, program)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it then removes what it has begun
	cmd.WaitDelay = 5 * time.Second
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &told
	err := cmd.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); failed && told.Len() > 0 {
		return errors.New(string(bytes.TrimSpace(told.Bytes())))
	}
	return err
}

// hashOf is the hash of a file.
func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// place copies a program to a path, in one step: a program of that name that runs goes on.
func place(program, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of the program: %w", err)
	}
	from, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	defer from.Close()
	to, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("copy the program: %w", errors.Join(err, os.Remove(path+".new")))
	}
	return nil
}

// took is how long something took, as people say it.
func took(began time.Time) string {
	return fmt.Sprintf("%.1f s", time.Since(began).Seconds())
}
