package dev

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/schema/eventlock"
)

// logged is what is known of events that the log may have.
type logged struct {
	at string // where the log is, as the server is told
	// Locks beside the base of which programs were built, so that a server may have run that appended events of what they
	// have. What is in no program yet is in no event: a line that was cut and pasted, or code that does not compile.
	known  []string
	since  *logEnd           // the log before a server knew one of these, which fits the base; nil before there are any
	unsure map[string]bool   // logs of which servers may have events that the base does not know, so that all count
	gone   map[string]string // types that git took out of the lock, and the text that had them
}

// logAt is where the log of a server is, as its flags, and the variables that stand in for them, say.
func logAt(flags []string) string {
	config, _ := lastFlag("config", flags)
	return strings.Join([]string{option("store", "embedded:data", flags), option("events", "", flags), config}, "\n")
}

// built notes that a program is about to run that knows the lock as it is; until then that server runs, or none.
func (d *draft) built(srv *server) {
	l := &d.logged
	if d.wrote == d.base || slices.Contains(l.known, d.wrote) {
		return
	}
	l.known = append(l.known, d.wrote)
	for _, name := range eventlock.Declared(d.wrote) {
		delete(l.gone, name)
	}
	if l.since == nil {
		l.since = &logEnd{}
		if srv != nil && !l.unsure[l.at] {
			*l.since = srv.logEnd()
		}
	}
}

// started looks whether the log of a server that has just started is the one that was there before.
func (d *draft) started(srv *server) {
	if since := d.logged.since; since != nil && !srv.logEnd().continues(*since) {
		*since = nil
	}
}

// moves leaves the log of the former server, or of one that has ended, where the next one has another: what the log may
// have stays in the lock, and is nothing that the other log has.
func (d *draft) moves(former *server, flags []string) error {
	l := &d.logged
	at := logAt(flags)
	if l.at == "" {
		l.at = at
	}
	if at == l.at {
		return nil
	}
	held := d.holdLogged(former, d.base)
	l.known, l.since, l.at = nil, nil, at
	if held {
		if err := d.putBack(d.wrote, d.base); err != nil {
			return err
		}
	}
	d.knows(d.wrote)
	return nil
}

// returns has the log be that of a former server again, where the next one did not start.
func (d *draft) returns(former *server) {
	if at := logAt(former.flags); at != d.logged.at {
		d.logged.at = at
		d.knows(former.lock)
	}
}

// knows notes that a server is about to run that knows a text of the lock, with a log of which no more is known.
func (d *draft) knows(text string) {
	if text != d.base && !slices.Contains(d.logged.known, text) {
		d.logged.known, d.logged.since = append(d.logged.known, text), &logEnd{}
	}
}

// takeOut remembers the types of events that git has taken out of the lock with what was not committed. Git has not
// asked whether there are such events, so these count as soon as the types are declared again.
func (d *draft) takeOut(text string) {
	l, declared := &d.logged, eventlock.Declared(text)
	remember := func(former string) (some bool) {
		for _, name := range eventlock.Declared(former) {
			if !slices.Contains(declared, name) {
				l.gone[name], some = former, true
			}
		}
		return some
	}
	before := len(l.known)
	l.known = slices.DeleteFunc(l.known, remember)
	remember(d.base)
	l.unsure[l.at] = l.unsure[l.at] || len(l.known) < before
	if len(l.known) == 0 {
		l.since = nil
	}
}

// regain has the lock hold types again that git took out of it and the schema has still, or again, where the log may
// have events of them: they are what they were. The next generation says what does not suit that.
func (d *draft) regain(srv *server) error {
	base, declared := d.base, eventlock.Declared(d.wrote)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(d.logged.gone)) {
		if slices.Contains(declared, name) && d.mayBeLogged(srv, []string{name}) {
			names = append(names, name)
			base = eventlock.With(base, d.logged.gone[name], name)
			delete(d.logged.gone, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	d.base = base
	d.say("the log has events of %s, or may have: changes of them are held to what %s had before it was changed; if "+
		"nobody needs these events, end foldql dev, and remove them there and the data", strings.Join(names, ", "),
		eventlock.File)
	if len(eventlock.Changed(d.wrote, base)) == 0 {
		return nil
	}
	return d.putBack(d.wrote, base)
}

// contradicted are types that a text of the lock lacks, or has otherwise than servers knew them, and of which the log
// may have events.
func (d *draft) contradicted(srv *server, text string) (types []string) {
	declared := append(eventlock.Declared(text), slices.Collect(maps.Keys(d.logged.gone))...)
	for _, name := range eventlock.Declared(d.base) {
		if !slices.Contains(declared, name) {
			types = append(types, name)
		}
	}
	for _, known := range d.logged.known {
		types = append(types, eventlock.Changed(text, known)...)
	}
	slices.Sort(types)
	types = slices.Compact(types)
	return slices.DeleteFunc(types, func(name string) bool { return !d.mayBeLogged(srv, []string{name}) })
}

// mayBeLogged reports whether a server may have appended events of these types that the base does not know: unless the
// log is the server's own, and has none. Events of types of the base count from where the log had none but its own.
func (d *draft) mayBeLogged(srv *server, types []string) bool {
	if srv == nil || !ownLog(srv.flags) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	declared := eventlock.Declared(d.base)
	isNew := func(name string) bool { return !slices.Contains(declared, name) }
	changed := slices.DeleteFunc(slices.Clone(types), isNew)
	added := slices.DeleteFunc(slices.Clone(types), func(name string) bool { return !isNew(name) })
	return len(added) > 0 && !srv.hasNone(ctx, added, nil) ||
		len(changed) > 0 && !srv.hasNone(ctx, changed, d.logged.since)
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
