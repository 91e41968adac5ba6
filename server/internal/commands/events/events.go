// Package events holds the commands of the events of a log: show, search, export and import.
//
// A running server has its log open, and no other process can: so its events are asked for page by page at
// POST /admin/events/search, and sent to POST /events. With --store the same handlers answer in this process.
package events

import (
	"errors"
	"net/http"

	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/commands"
)

// Events groups the commands.
type Events struct {
	Show   show         `cmd:"" help:"Print one event as CloudEvents JSON, and where it stands."`
	Search searchEvents `cmd:"" help:"List events by subject, type, source and time, in the order of the log."`
	Export export       `cmd:"" help:"Write events to a file of CloudEvents JSON, one a line."`
	Import importEvents `cmd:"" name:"import" help:"Append the events of a file to the log. It may be repeated."`
}

// place is where the events are: with a running server, or in a store.
type place struct {
	client.Server
	commands.StoreOptions
}

// read calls f with a client of the server or, where a store is given, of one that answers this client alone.
func (c *place) read(p *commands.Program, f func(*client.Client) error) (err error) {
	if c.Store == "" {
		return c.remote(p, f, commands.StoreFlags()...)
	}
	src, err := c.StoreOptions.OpenSource(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	mux := http.NewServeMux()
	(&admin.API{Source: src.Source, Log: p.Log}).RegisterEvents(mux, func(h http.Handler) http.Handler { return h })
	return f(client.InProcess("the store", mux))
}

// remote calls f with a client of the server, unless a flag was given that means nothing to it.
func (c *place) remote(p *commands.Program, f func(*client.Client) error, without ...string) error {
	if err := p.RefuseWithoutStore(without...); err != nil {
		return err
	}
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	return f(to)
}
