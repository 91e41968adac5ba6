package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// TestATableThatWasLostIsFoldedAgain and neither served empty nor, where somebody makes it again under its name, folded
// on.
func TestATableThatWasLostIsFoldedAgain(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			app := versioned("1")
			store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
			options := append(slices.Clone(store), "--events", "log:"+t.TempDir())
			tables := func(args ...string) *call {
				return runProgram(t, app, start{args: append(append([]string{"tables"}, args...), store...)})
			}
			tables("apply").wantExit(t, exitDone, "done")
			s := serve(t, app, start{args: options})
			s.post(t, slices.Collect(taskEvents(1, 20)))
			s.folded(t, 20)
			s.end(t)
			for generation, made := range []bool{false, true} {
				drv, err := dynamostore.Open(t.Context(), dynamostore.Config{Prefix: place.Prefix})
				if err != nil {
					t.Fatal(err)
				}
				table := app.Models[0].DriverTable(generation)
				none := func(string) {}
				if err := drv.ApplyTables(t.Context(), dynamostore.Tables{Former: []*driver.Table{table}}, true, none); err != nil {
					t.Fatal(err)
				}
				if made {
					if err := drv.ApplyTables(t.Context(), dynamostore.Tables{Needed: []*driver.Table{table}}, false,
						none); err != nil {
						t.Fatal(err)
					}
				}
				if err := drv.Close(); err != nil {
					t.Fatal(err)
				}
				runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0"}, options...)}).
					wantExit(t, exitFailed, "server tables apply")
				tables("plan").wantExit(t, exitDone, "rebuilds projection Tasks from the whole log")
				tables("apply").wantExit(t, exitDone, "done")
				s := serve(t, app, start{args: options})
				s.ready(t)
				if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "Task 7") {
					t.Errorf("made again %t: %s", made, got)
				}
				s.end(t)
			}
		})
	}
}
