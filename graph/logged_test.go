package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/internal/requestlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
)

// messages asks a query and returns the messages of its errors.
func (b *bench) messages(t *testing.T, query string) (all []string) {
	t.Helper()
	op, errs := b.exec.CreateOperationContext(graphql.StartOperationTrace(t.Context()), &graphql.RawParams{Query: query})
	if errs != nil {
		t.Fatal(errs)
	}
	handler, ctx := b.exec.DispatchOperation(t.Context(), op)
	for _, err := range handler(ctx).Errors {
		all = append(all, err.Message)
	}
	return all
}

// TestTheLogHasFewOfTheFailedReadsOfOneRequest which may have a thousand pages in each of several fields.
func TestTheLogHasFewOfTheFailedReadsOfOneRequest(t *testing.T) {
	for _, failure := range []error{
		errors.New("secret detail"), querydb.ErrThrottled, &aggregate.IncompleteError{Reason: "a part is missing"},
	} {
		t.Run(failure.Error(), func(t *testing.T) {
			var log bytes.Buffer
			b := newBench(t, Config{AuthOff: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			b.stock(t)
			b.store.fail = func(_ context.Context, table string) error {
				if table == "Track" {
					return failure
				}
				return nil
			}
			for range 2 { // requests
				log.Reset()
				failed := b.messages(t, `{ OrderByStatus(status: OPEN) { items { a: tracks(eq: "2024-01-01") { nextToken }
					b: tracks(eq: "2024-01-02") { nextToken } c: tracks(eq: "2024-01-03") { nextToken } } } }`)
				if len(failed) <= requestlog.Most {
					t.Fatalf("%d fields failed, too few to tell", len(failed))
				}
				if lines := strings.Count(log.String(), "\n"); lines != requestlog.Most+1 {
					t.Errorf("the log has %d lines, want %d:\n%s", lines, requestlog.Most+1, log.String())
				}
			}
		})
	}
}

// TestTheLogHasTheCausesOfEveryModel that a request could not read, however many reads of another one failed before.
func TestTheLogHasTheCausesOfEveryModel(t *testing.T) {
	var log bytes.Buffer
	b := newBench(t, Config{AuthOff: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	b.stock(t)
	b.store.fail = func(_ context.Context, table string) error {
		switch table {
		case "Track":
			return errors.New("disk on fire")
		case "Invoice":
			return errors.New("quite another cause")
		}
		return nil
	}
	b.messages(t, `{ OrderByStatus(status: OPEN) { items { a: tracks(limit: 1) { nextToken } b: tracks(limit: 2) { nextToken }
		c: tracks(limit: 3) { nextToken } } } Invoice(id: "1") { amount } }`)
	if fires := strings.Count(log.String(), "on fire"); fires != requestlog.Most {
		t.Errorf("%d reads of one model are logged, want %d", fires, requestlog.Most)
	}
	if !strings.Contains(log.String(), "quite another cause") {
		t.Errorf("the log does not have the cause of the other model:\n%s", log.String())
	}
}

// TestInternalErrorsOfReadsLeadToTheLog by the identifier in their message, those of a failing store and those of
// damaged rows.
func TestInternalErrorsOfReadsLeadToTheLog(t *testing.T) {
	for query, failing := range map[string]string{
		`{ Customer(id: "c1") { name } }`: "Customer",
		`{ OrderByStatus(status: OPEN) { items { a: tracks { nextToken } b: tracks(limit: 1) { nextToken } } } }`: "Track",
		`{ OrderByStatus(status: OPEN) { items { customer { name } } } }`:                                         "Customer",
		`{ damaged: Order(id: "d") { customer { name } } }`:                                                       "",
		`{ damaged: Order(id: "d") { products { name } } }`:                                                       "",
		`{ damaged: Order(id: "d") { referrerTrack { note } } }`:                                                  "",
		`{ damaged: Order(id: "d") { bills { nextToken } } }`:                                                     "",
	} {
		var log bytes.Buffer
		b := newBench(t, Config{AuthOff: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		b.stock(t)
		b.put(t, "Order", row{"orderId": "d", "customerId": 5, "referrerId": 5, "productIds": 5,
			"status": "OPEN", "placedAt": day(1)})
		b.store.fail = func(_ context.Context, table string) error {
			if table == failing {
				return errors.New("secret detail")
			}
			return nil
		}
		failed := b.messages(t, query)
		if len(failed) == 0 {
			t.Errorf("%s: no error", query)
		}
		for _, message := range failed {
			id := regexp.MustCompile(` under (\w+)$`).FindStringSubmatch(message)
			if id == nil || !strings.Contains(log.String(), fmt.Sprint("id=", id[1])) || strings.Contains(message, "secret") {
				t.Errorf("%s: %q does not lead to the log, which has\n%s", query, message, log.String())
			}
		}
	}
}
