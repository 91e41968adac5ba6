package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server"
)

// app is a project: all of it is generated, but for its projectors.
var app = server.App{
	Models: model.All, Events: event.Types, Projections: projectors.Projections(), Catalog: generated.Catalog,
	Schema: graph.Schema, SDL: generated.SDL(),
}

// The main function of a project.
func ExampleMain() {
	server.Main(app)
}

// The same server inside of another program, which has its own store and log. It closes them when nothing uses them any
// more: requests end first, then projections.
func ExampleEmbed() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db, err := querydb.Open(ctx, memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	log := memlog.New(memlog.Options{})
	defer log.Close()
	if _, err := log.Append(ctx, slices.Collect(sample.Events(sample.Size{Customers: 2, Products: 3, Orders: 5,
		Statuses: 2, Lines: 1}))); err != nil {
		fmt.Println(err)
		return
	}
	log.End()

	embedded, err := server.Embed(ctx, app, server.EmbedConfig{
		DB: db, Source: log, Logger: slog.New(slog.DiscardHandler), AuthOff: true, // and nobody writes over HTTP
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	live := httptest.NewServer(embedded)
	defer func() {
		live.Close()
		stop()
		if err := embedded.Wait(); err != nil {
			fmt.Println(err)
		}
	}()
	if err := embedded.Wait(); err != nil { // for the end of the log
		fmt.Println(err)
		return
	}
	answer, err := http.Post(live.URL+"/graphql", "application/json",
		strings.NewReader(`{"query": "{ Sales_OrderCount { orders } }"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"data":{"Sales_OrderCount":{"orders":"5"}}}
}

// A program that appends events itself awaits its rows before it reads them, and retries what could not be folded.
func ExampleEmbedded_Await() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db, err := querydb.Open(ctx, memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := memlog.New(memlog.Options{})
	embedded, err := server.Embed(ctx, app, server.EmbedConfig{
		DB: db, Source: log, Logger: slog.New(slog.DiscardHandler), AuthOff: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		stop()
		fmt.Println(errors.Join(embedded.Wait(), log.Close(), db.Close()))
	}()

	appended, err := log.Append(ctx, slices.Collect(sample.Events(sample.Size{Customers: 1, Products: 1, Orders: 2,
		Statuses: 1, Lines: 1})))
	if err == nil {
		err = embedded.Await(ctx, appended)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query": "{ Sales_OrderCount { orders } }"}`))
	ask.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	embedded.ServeHTTP(answer, ask)
	fmt.Println(answer.Body)

	letters, err := embedded.DeadLetters(ctx, "Order", "", 100)
	for _, letter := range letters {
		err = errors.Join(err, embedded.RetryDeadLetter(ctx, "Order", letter.Ref))
	}
	fmt.Println(len(letters), err)
	// Output:
	// {"data":{"Sales_OrderCount":{"orders":"2"}}}
	// 0 <nil>
	// <nil>
}
