package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema/eventlock"
)

// draft is what the lock of the events has got since the session began. While events are being declared each save adds
// to it, half-written names among them; as long as the log has no event of these types, they are free to change.
type draft struct {
	path      string
	say       func(format string, args ...any)
	base      string            // what changes of the events are held to
	wrote     string            // the lock as the session has left it
	own       map[string]string // texts that the session has left, and what the base was then
	committed string            // the lock as git has it
	logged    logged
}

func newDraft(root string, say func(format string, args ...any)) (d draft, err error) {
	d.path, d.say = filepath.Join(root, eventlock.File), say
	d.base, err = d.read()
	d.wrote, d.committed = d.base, committed(d.path)
	d.own = map[string]string{}
	d.logged = logged{gone: map[string]string{}, unsure: map[string]bool{}}
	return d, err
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

// loosen takes out of the lock what is free to change, before the code is generated, while a server runs, or none.
// Where the code is not generated then, restore puts that back, unless another process, which may generate the code at
// the same time, has written the lock since. A lock that cannot be read, as one amid a merge, says nothing of events:
// what is known of them stays as it is until the lock can be read again.
func (d *draft) loosen(srv *server) (restore func() error, err error) {
	now, err := d.read()
	if err != nil {
		return nil, err
	}
	if _, found := eventlock.Read(now); found.Err() != nil {
		return nil, fmt.Errorf("read the lock of the events: %w\nput it right, or back with git: foldql dev then "+
			"sees what has changed in it, and goes on", found.Err())
	}
	d.follow(srv, now, committed(d.path))
	// A server that still starts cannot be asked: what it says then comes in time for what is generated now.
	held := !srv.opening() && d.holdLogged(srv, d.base)
	base := d.base
	if err := d.replace(now, base); errors.Is(err, outfile.ErrChanged) {
		return d.loosen(srv)
	} else if err != nil {
		return nil, err
	}
	d.wrote = base
	if held { // what was there before need not have come of what the log has
		return func() error { return nil }, nil
	}
	return func() error {
		err := d.replace(base, now)
		if errors.Is(err, outfile.ErrChanged) { // by another process, for the generator takes back what it has written
			return nil
		}
		d.wrote = now
		return err
	}, nil
}

// left notes the lock as the session has left it, where the code is generated.
func (d *draft) left() {
	if lock, err := d.read(); err == nil {
		d.wrote, d.own[lock] = lock, d.base
	}
}

// follow takes the lock as it is now, and the commit as it is, from whoever has written them: the author may change
// events by git or by hand while the session goes on, and what he has made of the lock counts.
func (d *draft) follow(srv *server, now, last string) {
	moved := last != d.committed && len(eventlock.Changed(d.base, last)) > 0
	d.committed = last
	switch base, own := d.own[now]; {
	case moved && now == last:
		d.takeOut(now)
		d.hold(srv, now, "it is committed, and others may have such events")
	case moved && d.own[last] == d.base:
		d.base, d.own[now] = last, last // what is added beside that stays a draft
	case moved:
		d.hold(srv, now, "another one is committed than before")
	case now == d.wrote:
	case now == d.base, own && base == d.base: // a draft was put away, or comes back
		d.takeOut(now)
	case now == last:
		d.takeOut(now)
		d.hold(srv, now, "it is the committed one again")
	default:
		d.hold(srv, now, "it was written by another program than foldql dev, or by hand")
	}
}

// hold has changes of the events held to a text of the lock that others have written, and says why.
func (d *draft) hold(srv *server, text, why string) {
	d.say("changes of events are held to %s as it is now: %s", eventlock.File, why)
	if types := d.contradicted(srv, text); len(types) > 0 {
		d.say("the log may have events of %s that are not as this %s says: put back what it had of them, or raise their "+
			"@version; if nobody needs the events, end foldql dev, remove the data, and start it again",
			strings.Join(types, ", "), eventlock.File)
	}
	d.holdAlone(text)
}

// holdLogged has changes of the events held to what a server has known beside a text of the lock, where the log may
// have events of that, and reports whether it does.
func (d *draft) holdLogged(srv *server, beside string) bool {
	for _, text := range d.logged.known {
		if text == beside {
			continue
		}
		if types := eventlock.Changed(beside, text); d.mayBeLogged(srv, types) {
			d.say("the log has events of %s, or may have: changes of events are held to what %s has of them",
				strings.Join(types, ", "), eventlock.File)
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
	if slices.ContainsFunc(d.logged.known, func(known string) bool { return known != text }) {
		d.logged.unsure[d.logged.at] = true
	}
	d.logged.known, d.logged.since = nil, nil
}

// served asks once more for events of what was taken back, when the server has ended that knew it, or is about to.
// Where there are some, the lock is what it was, unless another process has written it since, and the next
// generation says what does not suit it.
func (d *draft) served(srv *server) error {
	if d.holdLogged(srv, d.wrote) {
		return d.putBack(d.wrote, d.base)
	}
	l := &d.logged
	l.known = slices.DeleteFunc(l.known, func(known string) bool { return known != d.wrote })
	if len(l.known) == 0 {
		l.since = nil
	}
	return nil
}
