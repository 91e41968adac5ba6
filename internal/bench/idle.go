package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server"
)

// idleProjections is how many projections that take none of the events are measured beside those that do.
const idleProjections = 50

// withIdleProjections is the program of the shop with n more projections, of models of their own, that take events of a
// type of which there are none.
func withIdleProjections(n int) server.App {
	app := server.App{
		Models: model.All, Events: event.Types, Projections: projectors.Projections(), Catalog: generated.Catalog,
		Schema: generated.New, SDL: generated.SDL(),
	}
	for i := range n {
		own := *model.ProductModel
		own.Name, own.Table = fmt.Sprint("Idle", i), fmt.Sprint("idle", i)
		codec, idle := *ops.Product.Codec, ops.Product
		codec.Model, idle.Codec = &own, &codec
		app.Models = append(app.Models[:len(app.Models):len(app.Models)], &own)
		app.Projections = append(app.Projections, projection.New(&idle, projection.Projection{
			Name: own.Name, Events: []string{"ProductRemoved"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
		}))
	}
	return app
}

// foldBesideIdleProjections measures the fold of the shop from a log, alone and with projections beside it that take
// none of the events, in turns.
func foldBesideIdleProjections(ctx context.Context, out io.Writer, dir string) error {
	log := filepath.Join(dir, "idle-log")
	self, err := os.Executable()
	if err == nil {
		err = importLog(ctx, self, eventsOf(dir), log)
	}
	if err != nil {
		return err
	}
	var took, cpu [2]time.Duration // alone, and beside idle ones
	for range foldRounds {
		for i, n := range []int{0, idleProjections} {
			wall, used, err := foldLog(ctx, self, n, log, filepath.Join(dir, "idle-rows"))
			if err != nil {
				return err
			}
			took[i] += wall
			cpu[i] += used
		}
	}
	fmt.Fprintf(out, "  the shop from a log, with %d projections that take none of the events: %.2f of the rate without "+
		"them, at %.2f of the CPU\n", idleProjections, took[0].Seconds()/took[1].Seconds(), cpu[1].Seconds()/cpu[0].Seconds())
	return os.RemoveAll(log)
}

func importLog(ctx context.Context, self, events, log string) error {
	_, _, err := timed(ctx, self, "-idle", "0", "events", "import", events, "--store", "embedded:"+log)
	return err
}

// foldLog folds a log into a store of its own, and returns how long that took.
func foldLog(ctx context.Context, self string, idle int, log, rows string) (wall, cpu time.Duration, err error) {
	defer os.RemoveAll(rows)
	return timed(ctx, self, "-idle", fmt.Sprint(idle), "replay", "--store", "embedded:"+rows, "--events", "log:"+log)
}
