package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// Open opens the store that is named as for the server. No server may have an embedded one open.
func Open(ctx context.Context, name string) (driver.Driver, error) {
	kind, at, _ := strings.Cut(name, ":")
	quiet := slog.New(slog.DiscardHandler)
	switch kind {
	case "embedded":
		return pebblestore.Open(pebblestore.Options{Dir: at + "/rows", Logger: quiet})
	case "dynamodb":
		return dynamostore.Open(ctx, dynamostore.Config{Prefix: at, Log: quiet})
	}
	return nil, fmt.Errorf("no store that can be verified: %q", name)
}

// Main verifies the store that is the first argument by the file of events that is the second, and the answers that
// standard input has as a JSON list, and prints the verdict as JSON. It ends the process.
func (p Project) Main() {
	if err := p.print(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (p Project) print(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("give a store and a file of events")
	}
	var answers []Answer
	if err := json.NewDecoder(os.Stdin).Decode(&answers); err != nil {
		return fmt.Errorf("read the answers: %w", err)
	}
	store, err := Open(ctx, args[0])
	if err != nil {
		return err
	}
	verdict, err := p.Verify(ctx, args[1], store, answers)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(verdict)
}
