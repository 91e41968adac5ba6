package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// deployment is a project with tables of its own at an engine.
type deployment struct {
	dynamolocal.Endpoint
	app     App
	store   []string
	options []string
	client  *dynamodb.Client
}

func deploy(t *testing.T, e dynamolocal.Engine) *deployment {
	t.Helper()
	d := &deployment{Endpoint: dynamolocal.Start(t, e), app: versioned("1")}
	d.Setenv(t)
	d.store = []string{"--store", "dynamodb:" + d.Prefix + "?concurrency=8"}
	d.options = append(slices.Clone(d.store), "--events", "log:"+t.TempDir())
	cfg, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.client = dynamodb.NewFromConfig(cfg)
	return d
}

func (d *deployment) tables(t *testing.T, args ...string) *call {
	t.Helper()
	return runProgram(t, d.app, start{args: append(append([]string{"tables"}, args...), d.store...)})
}

// folds makes the tables where they are not there, appends n events, and folds them.
func (d *deployment) folds(t *testing.T, first, n int) {
	t.Helper()
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s := serve(t, d.app, start{args: d.options})
	s.post(t, slices.Collect(taskEvents(first, n)))
	s.folded(t, first+n-1)
	s.end(t)
}

// remake removes a table and, where made is true, makes it again.
func (d *deployment) remake(t *testing.T, table *driver.Table, made bool) {
	t.Helper()
	drv, err := dynamostore.Open(t.Context(), dynamostore.Config{Prefix: d.Prefix})
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) {}
	if err := drv.ApplyTables(t.Context(), dynamostore.Tables{Former: []*driver.Table{table}}, true, none); err != nil {
		t.Fatal(err)
	}
	if made {
		if err := drv.ApplyTables(t.Context(), dynamostore.Tables{Needed: []*driver.Table{table}}, false, none); err != nil {
			t.Fatal(err)
		}
	}
	if err := drv.Close(); err != nil {
		t.Fatal(err)
	}
}

// items reads all items of a table.
func (d *deployment) items(t *testing.T, table string) (all []map[string]types.AttributeValue) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(d.client, &dynamodb.ScanInput{TableName: aws.String(d.Prefix + table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
	}
	return all
}

// restore makes a table of items, as a restored backup.
func (d *deployment) restore(t *testing.T, table *driver.Table, items []map[string]types.AttributeValue) {
	t.Helper()
	d.remake(t, table, true)
	for _, it := range items {
		_, err := d.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(d.Prefix + table.Name),
			Item: it})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// refuses fails unless neither a start nor a replay does anything.
func (d *deployment) refuses(t *testing.T, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := &call{}
	c.code = start{args: append([]string{"serve", "--listen", "127.0.0.1:0"}, d.options...)}.program(d.app, c).run(ctx)
	c.wantExit(t, exitFailed, said)
	runProgram(t, d.app, start{args: append([]string{"replay"}, d.options...)}).wantExit(t, exitFailed, said)
}

// serves fails unless a start has all tasks up to n, once its rows are complete.
func (d *deployment) serves(t *testing.T, folded uint64) {
	t.Helper()
	s := serve(t, d.app, start{args: d.options})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "Task 7") {
		t.Error(got)
	}
	if got := s.statusOf(t).Projections[0].Events; got != folded {
		t.Errorf("%d events were folded, want %d", got, folded)
	}
	s.end(t)
}

// replaces fails unless a start serves the rows that there are at once, and then others that it has built beside them.
func (d *deployment) replaces(t *testing.T) {
	t.Helper()
	s := serve(t, d.app, start{args: d.options})
	s.ready(t)
	for _, replaced := range []bool{false, true} {
		s.until(t, "serving", func() bool { return !replaced || strings.Contains(s.stderr.String(), switchedTo) })
		if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "Task 7") {
			t.Errorf("other rows serve: %t; %s", replaced, got)
		}
	}
	s.end(t)
}

// TestRowsWhoseNotesAreLostAreNeitherServedNorFoldedOn until somebody says that the notes are lost for good; then the
// log is rebuilt into other tables.
func TestRowsWhoseNotesAreLostAreNeitherServedNorFoldedOn(t *testing.T) {
	const unrecorded = "rows of a fold that is not on record"
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			d := deploy(t, e)
			d.folds(t, 1, 20)
			d.remake(t, querydb.NotesTable(), false)
			d.refuses(t, "create table "+d.Prefix+"foldql")
			d.tables(t, "plan").wantExit(t, exitFailed, unrecorded)
			d.tables(t, "apply").wantExit(t, exitFailed, "'server tables apply --notes-lost'")
			d.tables(t, "apply").wantExit(t, exitFailed, d.Prefix+"Task")

			d.remake(t, querydb.NotesTable(), true) // by somebody who does not ask
			for range 2 {
				d.refuses(t, "'server tables apply --notes-lost'")
				d.tables(t, "plan").wantExit(t, exitFailed, "table Task holds "+unrecorded)
				d.tables(t, "apply").wantExit(t, exitFailed, "--notes-lost")
			}
			d.tables(t, "apply", "--notes-lost").wantExit(t, exitDone, "the rows in table Task stay")
			d.tables(t, "plan").wantExit(t, exitDone, "rebuilds projection Tasks from the whole log")
			d.serves(t, 20)
			d.tables(t, "plan").wantExit(t, exitDone, "table "+d.Prefix+"Task with its ")
			d.serves(t, 0)
			d.tables(t, "apply", "--allow-delete").wantExit(t, exitDone, "done")

			d.remake(t, querydb.NotesTable(), false) // once more: the rows are in another generation now
			d.tables(t, "plan").wantExit(t, exitFailed, d.Prefix+"Task.g1")
			d.tables(t, "apply", "--notes-lost").wantExit(t, exitDone, "create table "+d.Prefix+"Task ")
			d.serves(t, 20)
			runProgram(t, d.app, start{args: append([]string{"rebuild", "Task"}, d.options...)}).wantExit(t, exitDone,
				"rebuilds from the whole log")
			d.tables(t, "apply").wantExit(t, exitDone, "done")
			d.replaces(t)
			if rows := len(d.items(t, "Task.g2")); rows != 21 {
				t.Errorf("the table of the generation after that of the lost notes has %d items, want 20 rows and its mark", rows)
			}
		})
	}
}

// TestNotesThatWereRestoredAreNotFoldedOn: the rows may be of a later time than they, so that events which failed
// then would be taken for folded, and retries be made twice. The log is rebuilt into other tables.
func TestNotesThatWereRestoredAreNotFoldedOn(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			d := deploy(t, e)
			d.folds(t, 1, 10)
			backup := d.items(t, "foldql")
			d.folds(t, 11, 10)
			d.restore(t, querydb.NotesTable(), backup)
			d.refuses(t, "create table "+d.Prefix+"Task.g1")
			d.tables(t, "plan").wantExit(t, exitDone, "the table of notes was restored")
			d.tables(t, "apply").wantExit(t, exitDone, "done")
			d.serves(t, 20)

			backup = slices.DeleteFunc(d.items(t, "foldql"), func(it map[string]types.AttributeValue) bool {
				kind, _ := it["id"].(*types.AttributeValueMemberS)
				return kind.Value == "mark" // as a version that made no marks would have left them
			})
			d.restore(t, querydb.NotesTable(), backup)
			d.tables(t, "plan").wantExit(t, exitDone, "holds the rows of another fold")
			d.tables(t, "apply").wantExit(t, exitDone, "done")
			d.serves(t, 20)
		})
	}
}

// TestTablesOfAnEarlierVersionAreTakenOverWithoutAFold: they have no mark, and get one.
func TestTablesOfAnEarlierVersionAreTakenOverWithoutAFold(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			d := deploy(t, e)
			d.folds(t, 1, 20)
			unmark := func(table, pk string) {
				t.Helper()
				for _, it := range d.items(t, table) {
					if id := it["id"].(*types.AttributeValueMemberS).Value; id != pk {
						continue
					}
					key := map[string]types.AttributeValue{"id": it["id"]}
					if it["_subId"] != nil {
						key["_subId"] = it["_subId"]
					}
					_, err := d.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(d.Prefix + table),
						Key: key})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			unmark("Task", driver.MarkPK)
			d.tables(t, "plan").wantExit(t, exitDone, "table Task has lost its rows")
			unmark("foldql", "mark")
			d.tables(t, "plan").wantExit(t, exitDone, "there is nothing to do")
			d.serves(t, 0)
			if n := len(d.items(t, "Task")); n != 21 {
				t.Errorf("the table has %d items, want 20 rows and a mark", n)
			}
			d.tables(t, "plan").wantExit(t, exitDone, "there is nothing to do")

			unmark("Task", driver.MarkPK) // notes lost before any version made marks
			d.remake(t, querydb.NotesTable(), true)
			d.refuses(t, "rows of a fold that is not on record")
		})
	}
}
