package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/graph"
	"github.com/foldql/foldql/internal/tests/crash/ledger/graph/generated"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/admin"
)

// TestMaxAggregateIsHowManyItemsAnObjectMayHave: a home of so many keys has two items more, and with one more than the
// flag says its event is a dead letter. Once the flag says more it is retried.
func TestMaxAggregateIsHowManyItemsAnObjectMayHave(t *testing.T) {
	app := App{
		Models: model.All, Events: event.Types, Projections: ledger.Projections(), Catalog: generated.Catalog,
		Schema: graph.Schema, SDL: generated.SDL(),
	}
	home := func(id string, keys int) eventlog.Event {
		holders := strings.TrimSuffix(strings.Repeat(`"",`, keys), ",")
		return eventlog.Event{ID: id, Source: "/homes", Type: "HomeFormed", Subject: id,
			Data: fmt.Appendf(nil, `{"home":%q,"name":"ours","branch":"b","holders":[%s]}`, id, holders)}
	}
	events := []eventlog.Event{{ID: "b", Source: "/homes", Type: "BranchNamed", Subject: "b",
		Data: []byte(`{"branch":"b","name":"Bern"}`)}, home("fits", 4), home("large", 5)}
	options := append(embedded(t), "--max-dead-letters", "100", "--auth=off")
	s := serve(t, app, start{args: append(options, "--max-aggregate", "6")})
	s.append(t, events...)
	var list admin.DeadLetterList
	s.until(t, "a dead letter", func() bool {
		status, text := s.request(t, "GET", "/admin/dead-letters?projection=Home", "")
		if err := json.Unmarshal([]byte(text), &list); err != nil || status != http.StatusOK {
			t.Fatalf("status %d, %v: %s", status, err, text)
		}
		return len(list.DeadLetters) == 1
	})
	letter := list.DeadLetters[0]
	want := &projection.AggregateOverflowError{Aggregate: "Home", SubAggregate: "safe", Items: 7, Limit: 6}
	if diff := cmp.Diff(want, letter.AggregateTransactionOverflow,
		cmpopts.IgnoreUnexported(projection.AggregateOverflowError{})); diff != "" || letter.ID != "large" {
		t.Errorf("the dead letter of %s (-want +got):\n%s", letter.ID, diff)
	}
	s.end(t)
	retry := []string{"deadletters", "retry", letter.Projection, letter.Ref}
	runProgram(t, app, start{args: append(append(retry, options[:2]...), "--max-aggregate", "6")}).
		wantExit(t, exitFailed, "7 items")
	runProgram(t, app, start{args: append(append(retry, options[:2]...), "--max-aggregate", "1001")}).
		wantExit(t, exitUsage, "give 1 to 1000")
	runProgram(t, app, start{args: append(append(retry, options[:2]...), "--max-aggregate", "7")}).
		wantExit(t, exitDone, "")
	runProgram(t, app, start{args: append([]string{"deadletters", "list"}, options[:2]...)}).
		wantExit(t, exitDone, "there are no dead letters\n")
	runProgram(t, app, start{args: append(retry, "--max-aggregate", "7")}).wantExit(t, exitUsage, "give --store too")
}
