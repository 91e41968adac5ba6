package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
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
	ran   bool   // a server has run since the base was taken, so that there may be events of later types
	// Locks that the session has taken back, while a server may run that knows what they have, and appends such events.
	taken     []string
	committed string // the lock as git has it
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
		d.hold(now, srv)
	}
	d.committed = last
	for _, text := range slices.Concat(d.taken, []string{now}) {
		if text != d.base && d.mayBeLogged(srv, eventlock.Changed(d.base, text), flags) {
			d.hold(text, srv)
			break
		}
	}
	if now != d.base && !slices.Contains(d.taken, now) {
		d.taken = append(d.taken, now)
	}
	base := d.base
	if err := d.replace(now, base); errors.Is(err, outfile.ErrChanged) {
		return d.loosen(srv, flags)
	} else if err != nil {
		return nil, err
	}
	return func() error { return d.putBack(base, now) }, nil
}

// putBack is replace, which leaves alone what another process has written since.
func (d *draft) putBack(was, text string) error {
	if err := d.replace(was, text); !errors.Is(err, outfile.ErrChanged) {
		return err
	}
	return nil
}

// hold has changes of the events held to a text of the lock.
func (d *draft) hold(text string, srv *server) { d.base, d.ran, d.taken = text, srv != nil, nil }

// served asks once more for events of what was taken back, when the server has ended that knew it. Where there are
// some, the lock is what it was, unless another process has written it since, and the next generation says what does
// not suit it.
func (d *draft) served(srv *server, flags []string) error {
	for _, text := range d.taken {
		if text != d.wrote && d.mayBeLogged(srv, eventlock.Changed(d.wrote, text), flags) {
			d.hold(text, srv)
			return d.putBack(d.wrote, text)
		}
	}
	d.taken = nil
	return nil
}

// mayBeLogged reports whether there may be events of one of these types: unless the log is the server's own, and has
// none.
func (d *draft) mayBeLogged(srv *server, types, flags []string) bool {
	switch {
	case !d.ran:
		return false
	case srv == nil || !ownLog(flags):
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return len(types) > 0 && !srv.hasNone(ctx, types)
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

// hasNone reports whether the log of the server is known to have no event of the types. It is not where the server does
// not say so, as where it wants a token.
func (srv *server) hasNone(ctx context.Context, types []string) bool {
	asked := map[string]any{"types": types, "limit": 1}
	for {
		body, err := json.Marshal(asked)
		if err != nil {
			return false
		}
		resp, err := srv.ask(ctx, http.MethodPost, "/admin/events/search", body)
		if err != nil {
			return false
		}
		var page struct {
			Events, Next, UpTo json.RawMessage
			More               bool
		}
		err = json.NewDecoder(resp.Body).Decode(&page)
		resp.Body.Close()
		if none := string(page.Events); err != nil || resp.StatusCode != http.StatusOK || none != "[]" && none != "null" {
			return false
		}
		if !page.More {
			return true
		}
		asked["from"], asked["upTo"] = page.Next, page.UpTo
	}
}
