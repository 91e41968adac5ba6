package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema/eventlock"
)

// draft is what the lock of the events has got since the session began. While events are being declared each save adds
// to it, half-written names among them; as long as the log has no event of these types, they are free to change.
type draft struct {
	path  string
	base  string // what changes of the events are held to
	wrote string // the lock as the session has left it
	// Locks beside the base of which programs were built, so that a server may have run that appended events of what they
	// have. What is in no program yet is in no event: a line that was cut and pasted, or code that does not compile.
	known     []string
	since     *logEnd // the log before a server knew one of these: what is there fits the base; nil before there are any
	unsure    bool    // servers may have appended events that the base does not know, so that all events count
	committed string  // the lock as git has it
}

func newDraft(root string) (d draft, err error) {
	d.path = filepath.Join(root, eventlock.File)
	d.base, err = d.read()
	d.wrote, d.committed = d.base, committed(d.path)
	return d, err
}

// committed is a file as the last commit has it, "" where git does not say.
func committed(path string) string {
	text, err := exec.Command("git", "-C", filepath.Dir(path), "show", "HEAD:./"+filepath.Base(path)).Output()
	if err != nil {
		return ""
	}
	return string(text)
}

// read is the lock as it is now, "" where there is none.
func (d *draft) read() (string, error) {
	text, err := outfile.Read(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the lock of the events: %w", err)
	}
	return string(text), nil
}

// replace puts a text in the place of another one, and fails with [outfile.ErrChanged] where the lock is not that any
// more.
func (d *draft) replace(was, text string) error {
	raw, err := os.ReadFile(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the lock of the events: %w", err)
	}
	switch now, err := d.read(); {
	case err != nil:
		return err
	case now != was:
		return outfile.ErrChanged
	case now == text:
		return nil
	}
	return outfile.Replace(d.path, raw, []byte(text))
}

// loosen takes out of the lock what is free to change, before the code is generated, while a server runs with these
// flags, or none. Where the code is not generated then, restore puts that back, unless another process, which may
// generate the code at the same time, has written the lock since.
func (d *draft) loosen(srv *server, flags []string) (restore func() error, err error) {
	now, err := d.read()
	if err != nil {
		return nil, err
	}
	last := committed(d.path)
	if now != d.wrote || last != d.committed { // others have it, or may have it
		d.holdAlone(now)
	}
	d.committed = last
	held := d.holdLogged(srv, d.base, flags)
	base := d.base
	if err := d.replace(now, base); errors.Is(err, outfile.ErrChanged) {
		return d.loosen(srv, flags)
	} else if err != nil {
		return nil, err
	}
	if held { // what was there before need not have come of what the log has
		return func() error { return nil }, nil
	}
	return func() error { return d.putBack(base, now) }, nil
}

// holdLogged has changes of the events held to what a server has known beside a text of the lock, where the log may
// have events of that, and reports whether it does.
func (d *draft) holdLogged(srv *server, beside string, flags []string) bool {
	for _, text := range d.known {
		if text != beside && d.mayBeLogged(srv, eventlock.Changed(beside, text), flags) {
			d.holdAlone(text)
			return true
		}
	}
	return false
}

// putBack is replace, which leaves alone what another process has written since.
func (d *draft) putBack(was, text string) error {
	if err := d.replace(was, text); !errors.Is(err, outfile.ErrChanged) {
		return err
	}
	return nil
}

// holdAlone has changes of the events held to a text of the lock. Others that servers have known have not come of it,
// and an event of it would count as one of theirs: they are forgotten, and all events count from now on.
func (d *draft) holdAlone(text string) {
	d.base = text
	d.unsure = d.unsure || slices.ContainsFunc(d.known, func(known string) bool { return known != text })
	d.known, d.since = nil, nil
}

// built notes that a program is about to run that knows the lock as it is; until then that server runs, or none.
func (d *draft) built(srv *server) {
	if d.wrote == d.base || slices.Contains(d.known, d.wrote) {
		return
	}
	d.known = append(d.known, d.wrote)
	if d.since == nil {
		d.since = &logEnd{}
		if srv != nil && !d.unsure {
			*d.since = srv.logEnd()
		}
	}
}

// started looks whether the log of a server that has just started is the one that was there before.
func (d *draft) started(srv *server) {
	if d.since != nil && !srv.logEnd().continues(*d.since) {
		*d.since = nil
	}
}

// served asks once more for events of what was taken back, when the server has ended that knew it, or is about to.
// Where there are some, the lock is what it was, unless another process has written it since, and the next
// generation says what does not suit it.
func (d *draft) served(srv *server, flags []string) error {
	if d.holdLogged(srv, d.wrote, flags) {
		return d.putBack(d.wrote, d.base)
	}
	d.known = slices.DeleteFunc(d.known, func(known string) bool { return known != d.wrote })
	if len(d.known) == 0 {
		d.since = nil
	}
	return nil
}

// mayBeLogged reports whether a server may have appended events of these types that the base does not know: unless the
// log is the server's own, and has none. Events of types of the base count from where the log had none but its own.
func (d *draft) mayBeLogged(srv *server, types, flags []string) bool {
	if srv == nil || !ownLog(flags) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	declared := eventlock.Declared(d.base)
	isNew := func(name string) bool { return !slices.Contains(declared, name) }
	changed := slices.DeleteFunc(slices.Clone(types), isNew)
	added := slices.DeleteFunc(slices.Clone(types), func(name string) bool { return !isNew(name) })
	return len(added) > 0 && !srv.hasNone(ctx, added, nil) ||
		len(changed) > 0 && !srv.hasNone(ctx, changed, d.since)
}

// ownLog reports whether the flags, and the variables that stand in for them, name no other source of events, to which
// others may append.
func ownLog(flags []string) bool {
	for _, name := range []string{"FOLDQL_EVENTS", "FOLDQL_CONFIG"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	for _, flag := range flags {
		if strings.HasPrefix(flag, "--events") || strings.HasPrefix(flag, "--config") {
			return false
		}
	}
	return true
}
