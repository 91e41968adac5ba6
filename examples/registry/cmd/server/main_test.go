package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"

	"example.com/registry/graph/generated"
	"example.com/registry/model"
	"example.com/registry/projection/registry"
)

// What the tests look at: the events of a file, folded once into an embedded store, and the same computed again.
var (
	db   *querydb.DB
	want expectation
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	code, err := foldAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func foldAndRun(m *testing.M) (code int, err error) {
	file := eventsFile()
	if want, err = expect(file); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := pebblestore.Open(pebblestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	if db, err = querydb.Open(context.Background(), store, model.All, querydb.Config{}); err != nil {
		return 0, errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := fold(context.Background(), file); err != nil {
		return 0, err
	}
	fmt.Printf("%d events of %s folded\n", want.events, file)
	return m.Run(), nil
}

// eventsFile is the file that REGISTRY_EVENTS names, else that with all events where it is, beside the sample or in
// shared/data beside the checkout, else the sample.
func eventsFile() string {
	if file := os.Getenv("REGISTRY_EVENTS"); file != "" {
		return file
	}
	project := filepath.Join("..", "..")
	for _, folder := range []string{"data", "../../../shared/data"} {
		all := filepath.Join(project, folder, "registry-events.jsonl.gz")
		if _, err := os.Stat(all); err == nil {
			return all
		}
	}
	return filepath.Join(project, "data", "sample.jsonl.gz")
}

// fold runs every projection to the end of the file.
func fold(ctx context.Context, file string) error {
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	errs := make([]error, len(registry.Projections()))
	for i, p := range registry.Projections() {
		running.Go(func() { errs[i] = foldOne(ctx, p, source) })
	}
	running.Wait()
	return errors.Join(append(errs, source.Close())...)
}

func foldOne(ctx context.Context, p projection.Projection, source *filesource.Source) error {
	runner, err := projection.NewRunner(p, source, db, projection.RunnerConfig{})
	if err != nil {
		return err
	}
	if err := runner.Run(ctx); err != nil {
		return fmt.Errorf("projection %s: %w", p.Name, err)
	}
	letters, err := runner.DeadLetters(ctx, "", 1)
	if err == nil && len(letters) > 0 {
		err = fmt.Errorf("projection %s has dead letters, the first is %+v", p.Name, letters[0])
	}
	return err
}

// api is the API over the rows, as the server makes it; where resolvers is set, the generated resolvers answer all.
func api(resolvers bool) http.Handler {
	rt := graph.NewRuntime(db, generated.Catalog, graph.Config{TokenKey: keys.TokenKey{1}, ResolversOnly: resolvers})
	return graphqlhttp.New(graph.WithCompiledPlans(generated.New(rt), rt), graphqlhttp.Config{})
}
