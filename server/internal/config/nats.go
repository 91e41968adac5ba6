package config

import (
	"net/url"
	"strings"
)

// NATS is what a stream of NATS JetStream needs beside its address.
type NATS struct {
	EventsUser         string `help:"User of the NATS server that --events names." group:"Data"`
	EventsPassword     string `help:"Password of that user; better given by its variable, or by a file." group:"Data"`
	EventsPasswordFile string `help:"File that holds the password." placeholder:"FILE" group:"Data"`
	EventsCredentials  string `help:"File of NATS credentials (.creds), in place of a user or a token." placeholder:"FILE" group:"Data"`
	EventsBegin        uint64 `help:"First sequence of the stream of which rows are made: events before it are not wanted." group:"Data"`
	EventsAllowRemoval bool   `help:"Take a stream that removes messages from its middle (max-msgs-per-subject, allow-msg-ttl, allow-rollup): rows are made of what is there." group:"Data"`
}

// parseStream reads "nats://HOST:PORT/STREAM" or "tls://…".
func parseStream(text string) (Source, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || strings.ContainsAny(text, "?#") || strings.Trim(u.Path, "/") == "" {
		return Source{}, Wrong("events", "the address names no stream; write nats://HOST:PORT/STREAM")
	}
	if u.User != nil {
		return Source{}, Wrong("events", "the address has a user; give that by events-user and FOLDQL_EVENTS_PASSWORD or "+
			"events-password-file")
	}
	return Source{Kind: Stream, Path: text}, nil
}

// of is the options of a source, whose secrets are read; only a stream has any.
func (n *NATS) of(s *Source) (err error) {
	if s.Kind != Stream {
		if *n != (NATS{}) {
			return Wrong("events", "%s: is no stream of NATS, and has no user, credentials or begin; leave "+
				"events-user, events-credentials and the like out", s.Kind)
		}
		return nil
	}
	s.NATS = *n
	s.NATS.EventsPassword, err = secretOf("events-password", n.EventsPassword, n.EventsPasswordFile)
	return err
}
