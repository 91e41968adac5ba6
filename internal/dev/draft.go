package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
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
}

func newDraft(root string) (d draft, err error) {
	d.path = filepath.Join(root, eventlock.File)
	d.base, err = d.read()
	d.wrote = d.base
	return d, err
}

// read is the lock as it is now, "" where there is none.
func (d *draft) read() (string, error) {
	text, err := os.ReadFile(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the lock of the events: %w", err)
	}
	return string(text), nil
}

// write puts a text in the place of the lock.
func (d *draft) write(text string) error { return outfile.WriteIfChanged(d.path, []byte(text)) }

// loosen takes out of the lock what is free to change, before the code is generated, while a server runs with these
// flags, or none. Where the code is not generated then, restore puts that back.
func (d *draft) loosen(srv *server, flags []string) (restore func() error, err error) {
	now, err := d.read()
	switch {
	case err != nil:
		return nil, err
	case now != d.wrote, now != d.base && d.mayBeLogged(srv, eventlock.Changed(d.base, now), flags):
		d.base, d.ran = now, srv != nil
	}
	return func() error { return d.write(now) }, d.write(d.base)
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
