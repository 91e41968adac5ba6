package config

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/foldql/foldql/eventlog/payload"
)

// Source says where events come from.
type Source struct {
	Kind string // log, file, http or nats
	// Path is that of a file, "-" for standard input; of a log its data directory, "" for the one that belongs to the
	// store; and the address of a server that has the log, or of a stream.
	Path  string
	Token string // that admits readers of events to that server
	NATS  NATS
	Certificates
	// Mapping makes events of messages that are no CloudEvents, nil where all are.
	Mapping *payload.Mapping
	// Mirror is the directory of a copy of the events on this machine, "" where there is none.
	Mirror string
}

// Bound is the kind of source that rows are bound to: the log of another server has the positions that it has there.
func (s Source) Bound() string {
	if s.Kind == Remote {
		return Log
	}
	return s.Kind
}

// mirror has the events copied to where the rows are. What is on this machine, or is there only once, is not copied.
func (s *Source) mirror(store Store) error {
	switch {
	case s.Kind == Log:
		return Wrong("mirror", "the events are in a log on this machine already; leave it out, or name another source by "+
			"--events")
	case s.Kind == File && s.Path == "-":
		return Wrong("mirror", "standard input is there only once, and no copy of it can go on; write it to a file, and "+
			"give --events file:PATH")
	case store.Kind == Memory:
		return Wrong("mirror", "memory: keeps nothing, and has no place for a copy; choose --store embedded:DIR, or leave "+
			"it out")
	}
	s.Mirror = store.Mirror()
	return nil
}

// SourceAccess is how events are read that are elsewhere. Every command that opens a source has it.
type SourceAccess struct {
	EventsAuth
	EventsMapping string `help:"File that says how messages of a stream, or lines of a file, become events where they are no CloudEvents." placeholder:"FILE" group:"Data"`
	NATS
	Certificates
}

// of gives a source what it is read by, and refuses what is for another kind of source.
func (a *SourceAccess) of(s *Source) (err error) {
	if err = a.EventsAuth.of(s); err == nil {
		err = a.NATS.of(s)
	}
	if err == nil {
		err = a.Certificates.of(s)
	}
	if err == nil {
		err = s.mapBy(a.EventsMapping)
	}
	return err
}

// EventsAuth is the secret of those who read the events of another server.
type EventsAuth struct {
	EventsToken     string `help:"Write token of the server whose log --events names, or token of the NATS server; better given by its variable, or by a file." group:"Data"`
	EventsTokenFile string `help:"File that holds the token." placeholder:"FILE" group:"Data"`
}

// of has a source take the token; only one that is on another server asks for any.
func (a *EventsAuth) of(s *Source) (err error) {
	if *a != (EventsAuth{}) && s.Kind != Remote && s.Kind != Stream {
		return Wrong("events", "%s: asks for no token; leave events-token and events-token-file out", s.Kind)
	}
	s.Token, err = secretOf("events-token", a.EventsToken, a.EventsTokenFile)
	return err
}

// Certificates are those of encrypted connections to where the events are.
type Certificates struct {
	EventsCA   string `name:"events-ca" help:"File of the certificates that the one of the server that --events names must be signed by." placeholder:"FILE" group:"Data"`
	EventsCert string `help:"File of the certificate to show to that server." placeholder:"FILE" group:"Data"`
	EventsKey  string `help:"File of the key of that certificate." placeholder:"FILE" group:"Data"`
}

// of has a source take the certificates; only one that is on another server has any.
func (c Certificates) of(s *Source) error {
	encrypted := s.Kind == Stream || s.Kind == Remote && strings.HasPrefix(s.Path, "https:")
	if c != (Certificates{}) && !encrypted {
		return Wrong("events", "%s: is read without an encrypted connection, and has no certificates; write https:, tls: or "+
			"nats:, or leave events-ca, events-cert and events-key out", s.Kind)
	}
	s.Certificates = c
	return nil
}

// parseSource reads "log:", "log:DIR", "file:PATH", "http://HOST:PORT", "https://HOST:PORT", "nats://HOST:PORT/STREAM"
// or "tls://HOST:PORT/STREAM". An error repeats nothing that may hold a secret.
func parseSource(text string) (Source, error) {
	named, rest, ok := strings.Cut(text, ":")
	kind := strings.ToLower(named)
	switch {
	case kind == "http" || kind == "https":
		return remote(kind + ":" + rest)
	case kind == "nats" || kind == "tls":
		return parseStream(kind + ":" + rest)
	case ok && kind == Log && rest == "":
		return Source{Kind: Log}, nil
	case ok && kind == Log && strings.HasPrefix(rest, "?"):
		return Source{}, Wrong("events", "what is given has options, and a log has none; write log: or log:DIR")
	case ok && kind == Log:
		return Source{Kind: Log, Path: filepath.Clean(rest)}, nil
	case ok && kind == File && rest != "":
		return Source{Kind: File, Path: rest}, nil
	case kind == File:
		return Source{}, Wrong("events", "%q names no file; write file:PATH, or file:- for standard input", text)
	}
	given := strconv.Quote(named)
	if strings.ContainsAny(text, "@?#") || strings.Contains(text, "//") {
		given = "what is given"
	}
	return Source{}, Wrong("events", "%s is no source of events; write log: for the log of the store, log:DIR, "+
		"file:PATH, https://HOST:PORT for the log of another server, or nats://HOST:PORT/STREAM", given)
}

// remote is the log of another server.
func remote(text string) (Source, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || strings.ContainsAny(text, "?#") {
		return Source{}, Wrong("events", "what is given is no address of a server; write https://HOST:PORT, with no query")
	}
	if u.User != nil {
		return Source{}, Wrong("events", "the address has a user; give the write token of that server by "+
			"FOLDQL_EVENTS_TOKEN or events-token-file")
	}
	return Source{Kind: Remote, Path: text}, nil
}

// mapBy reads the mapping in the file, "" for none.
func (s *Source) mapBy(file string) error {
	if file == "" {
		return nil
	}
	if s.Kind != Stream && s.Kind != File {
		return Wrong("events-mapping", "%s: holds CloudEvents alone; leave events-mapping out", s.Kind)
	}
	f, err := os.Open(file)
	if err != nil {
		return Wrong("events-mapping", "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, payload.MaxSize+1))
	if err == nil {
		s.Mapping, err = payload.Parse(text)
	}
	if err == nil && s.Kind == File {
		err = s.Mapping.OfLines()
	}
	if err != nil {
		return Wrong("events-mapping", "%s: %w", file, err)
	}
	return nil
}
