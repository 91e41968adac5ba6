package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/stores"
)

// jobsGroup is the name of the projection of owners and jobs.
const jobsGroup = "Jobs+Owners"

// copying is a server of owners and jobs, with as many events as have been appended.
type copying struct {
	*server
	events int
}

// change appends an event that names an owner or notes something for a job.
func (s *copying) change(t *testing.T, typ, id, owner, name string) {
	t.Helper()
	s.events++
	s.append(t, eventlog.Event{ID: fmt.Sprint("change-", s.events), Source: "/jobs", Type: typ, Subject: id,
		Data: fmt.Appendf(nil, `{"id":%q,"owner":%q,"name":%q}`, id, owner, name)})
	s.until(t, "folded", func() bool {
		at := s.status(t).Partitions
		return len(at) == 1 && at[0].Checkpoint == uint64(s.events)
	})
}

func (s *server) status(t *testing.T) (group projection.Status) {
	t.Helper()
	for _, p := range s.statusOf(t).Projections {
		if p.Projection == jobsGroup {
			return p
		}
	}
	t.Fatal("there is no projection of jobs")
	return group
}

// folding serves with the options and has an owner renamed of whom jobs 1, 2 and 3 hold copies. The row of job 2 has no
// room for the new name.
func folding(t *testing.T, app App, options []string) *copying {
	t.Helper()
	s := &copying{server: serve(t, app, start{args: options})}
	s.change(t, "OwnerNamed", "a", "", "old")
	for i, note := range []string{"short", "long", "short"} {
		s.change(t, "JobNoted", fmt.Sprint(i+1), "a", note)
	}
	s.change(t, "OwnerNamed", "a", "", strings.Repeat("n", 1000))
	s.until(t, "failed", func() bool { return len(s.status(t).FailedCascades) > 0 })
	return s
}

// retry asks the server to try failed cascades again.
func (s *server) retry(t *testing.T, wantTried, wantFailed int) {
	t.Helper()
	status, text := s.request(t, "POST", "/admin/cascades/retry", `{"projection": "`+jobsGroup+`"}`, "Content-Type",
		"application/json")
	var got admin.CascadesAnswer
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK || got.Tried != wantTried ||
		len(got.Failed) != wantFailed {
		t.Errorf("status %d, %v: %s; want %d tried and %d failed", status, err, text, wantTried, wantFailed)
	}
}

// TestFailedCascadesAreListedAndRetried by a running server, by HTTP and by commands.
func TestFailedCascadesAreListedAndRetried(t *testing.T) {
	app := copyingProject(200)
	s := folding(t, app, []string{"--store", "memory:"})
	run := func(args ...string) *call {
		t.Helper()
		return runProgram(t, app, start{args: append(append([]string{"deadletters"}, args...), "--url", s.url)})
	}
	entry := `"code":"CascadePartialFailure","model":"Owner","id":"a","succeeded":2,"failed":1,"reason":"Job row`
	for _, path := range []string{"/admin/dead-letters", "/admin/dead-letters?projection=Owners", "/admin/projections"} {
		if status, text := s.request(t, "GET", path, ""); status != http.StatusOK || !strings.Contains(text, entry) {
			t.Errorf("%s answers %d %s, want %s", path, status, text, entry)
		}
	}
	for _, of := range []string{"projection=Tasks", "rows=building"} {
		if _, text := s.request(t, "GET", "/admin/dead-letters?"+of, ""); strings.Contains(text, "failedCascades") {
			t.Errorf("of %s failed cascades are listed: %s", of, text)
		}
	}
	_, text := s.request(t, "GET", "/admin/projections?projection=Tasks", "")
	if strings.Count(text, `"projection":`) != 1 || !strings.Contains(text, `"projection":"Tasks"`) {
		t.Errorf("of the projections Tasks alone is asked for, and the answer is %s", text)
	}
	if status, text := s.request(t, "GET", "/admin/projections?projection=None", ""); status != http.StatusNotFound ||
		!strings.Contains(text, `There is no projection \"None\"`) {
		t.Errorf("of a projection that is not there the answer is %d %s", status, text)
	}
	list := run("list")
	list.wantExit(t, exitDone, "CascadePartialFailure: rows that some copies could not follow; retry them with "+
		"'deadletters retry-cascades':\n")
	list.wantExit(t, exitDone, "PROJECTION   MODEL  ID  SUCCEEDED  FAILED  REASON\n"+jobsGroup+"  Owner  a   2          1")
	run("list", "--json").wantExit(t, exitDone, `{"projection":"`+jobsGroup+`",`+entry)
	run("list", "--json", "--projection", "Tasks").wantExit(t, exitDone, "")

	s.retry(t, 1, 1)
	failed := run("retry-cascades", jobsGroup)
	failed.wantExit(t, exitFailed, jobsGroup+": 1 row tried, 1 failed again\n")
	failed.wantExit(t, exitFailed,
		"CascadePartialFailure: Owner a: 2 of 3 copies have followed, the others cannot: Job row")
	s.change(t, "JobNoted", "2", "a", "short")
	if got := s.status(t).FailedCascades; len(got) != 1 {
		t.Errorf("failed cascades are %+v, want one until it is retried", got)
	}
	run("retry-cascades", "Jobs").wantExit(t, exitDone, "Jobs: 1 row tried, 0 failed again\n")
	s.retry(t, 0, 0)
	if got := run("list"); got.stdout.String() != "there are no dead letters\n" {
		t.Errorf("listed is %s", &got.stdout)
	}

	s.change(t, "OwnerNamed", "a", "", "old")
	s.change(t, "JobNoted", "2", "a", "long")
	s.change(t, "OwnerNamed", "a", "", strings.Repeat("m", 1000))
	s.until(t, "failed", func() bool { return len(s.status(t).FailedCascades) > 0 })
	s.change(t, "JobNoted", "2", "a", "short")
	s.retry(t, 1, 0)
}

// TestARequestToRetryCascadesSaysWhatIsWrongWithIt.
func TestARequestToRetryCascadesSaysWhatIsWrongWithIt(t *testing.T) {
	app := copyingProject(200)
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	for body, want := range map[string]int{
		`{"projection": "Jibs"}`: http.StatusNotFound, `{}`: http.StatusBadRequest, `{"event": "0@1"}`: http.StatusBadRequest,
		`Jobs`: http.StatusBadRequest,
	} {
		status, text := s.request(t, "POST", "/admin/cascades/retry", body, "Content-Type", "application/json")
		if status != want || !strings.Contains(text, "projection") {
			t.Errorf("%s is answered with %d %s, want %d", body, status, text, want)
		}
	}
	status, _ := s.request(t, "POST", "/admin/cascades/retry", `{"projection": "Jobs"}`)
	if status != http.StatusBadRequest {
		t.Errorf("without a Content-Type: status %d", status)
	}
	if status, _ := s.request(t, "GET", "/admin/cascades/retry", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d", status)
	}
	runProgram(t, app, start{args: []string{"deadletters", "retry-cascades", "Jibs", "--url", s.url}}).
		wantExit(t, exitFailed, "There is no projection")
	runProgram(t, app, start{args: []string{"deadletters", "retry-cascades"}}).wantExit(t, exitUsage, "<projection>")
	runProgram(t, app, start{args: []string{"deadletters", "retry-cascades", "Jobs", "--max-ops", "5"}}).
		wantExit(t, exitUsage, "give --store too")
}

// TestFailedCascadesAreListedAndRetriedWhileNoServerRuns, with what a running server says of them.
func TestFailedCascadesAreListedAndRetriedWhileNoServerRuns(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		testCascadesOffline(t, copyingProject(200), []string{"--store", "embedded:" + t.TempDir()})
	})
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			app := copyingProject(5000) // an item of DynamoDB holds 4 KB less
			testCascadesOffline(t, app, inDynamo(t, e, app))
		})
	}
}

func testCascadesOffline(t *testing.T, app App, options []string) {
	run := func(options []string, args ...string) *call {
		t.Helper()
		return runProgram(t, app, start{args: append(append([]string{"deadletters"}, args...), options...)})
	}
	s := folding(t, app, options)
	s.change(t, "OwnerNamed", "b", "", "old")
	s.change(t, "JobNoted", "4", "b", "long")
	s.change(t, "OwnerNamed", "b", "", strings.Repeat("n", 1000))
	s.until(t, "failed", func() bool { return len(s.status(t).FailedCascades) == 2 })
	s.change(t, "JobNoted", "4", "b", "short")
	online := run([]string{"--url", s.url}, "list")
	s.end(t)

	offline := run(options, "list")
	offline.wantExit(t, exitDone, jobsGroup+"  Owner  a   2          1")
	offline.wantExit(t, exitDone, jobsGroup+"  Owner  b   0          1")
	if diff := cmp.Diff(online.stdout.String(), offline.stdout.String()); diff != "" {
		t.Errorf("listed (-by a running server +without one):\n%s", diff)
	}
	run(options, "retry-cascades", "Jibs").wantExit(t, exitFailed, "There is no projection")
	run(options, "retry-cascades", jobsGroup).wantExit(t, exitFailed, "2 rows tried, 1 failed again\n")
	left := run(options, "list").stdout.String()
	if strings.Contains(left, "Owner  b") || !strings.Contains(left, "Owner  a") {
		t.Errorf("once there is room for the copy of b, and a retry, these are listed:\n%s", left)
	}
}

// TestTheListOfDeadLettersSaysThatCopiesAreYetToFollow: those that could not before are among them while they are tried
// again, and on no list then.
func TestTheListOfDeadLettersSaysThatCopiesAreYetToFollow(t *testing.T) {
	app, dir := copyingProject(200), t.TempDir()
	folding(t, app, []string{"--store", "embedded:" + dir}).end(t)
	beginAgain(t, app, dir)
	list := func(more ...string) *call {
		t.Helper()
		return runProgram(t, app, start{args: append([]string{"deadletters", "list", "--store", "embedded:" + dir}, more...)})
	}
	const none, said = "there are no dead letters\n", "copies of 1 row are yet to follow"
	if got := list().stdout.String(); !strings.HasPrefix(got, none+said) {
		t.Errorf("listed is %q, want %q", got, none+said)
	}
	list("--projection", "Owners").wantExit(t, exitDone, said)
	if got := list("--projection", "Tasks").stdout.String(); got != none {
		t.Errorf("of another projection, listed is %q", got)
	}
	if got := list("--building").stdout.String(); got != none {
		t.Errorf("of rows that are being built, listed is %q", got)
	}
	lines := list("--json")
	if lines.stdout.String() != "" || !strings.Contains(lines.stderr.String(), said) {
		t.Errorf("as JSON, listed is %q, and told %q; want nothing and %q", &lines.stdout, &lines.stderr, said)
	}
}

// beginAgain puts on record of the cascade that has failed in an embedded store that it has begun again.
func beginAgain(t *testing.T, app App, dir string) {
	t.Helper()
	at := config.Store{Kind: config.Embedded, Dir: dir}
	db, err := stores.Open(t.Context(), at, stores.Options{Models: app.Models})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	notes, err := db.Notes().List(t.Context(), "cascade:Job.g0:"+jobsGroup, "", 2)
	if err != nil || len(notes) != 1 {
		t.Fatalf("on record are %d cascades, %v; want 1", len(notes), err)
	}
	notes[0].Value = []byte(`{"model":"Owner","pk":"a","id":"a"}`)
	if err := db.Apply(t.Context(), querydb.Batch{Notes: notes}); err != nil {
		t.Fatal(err)
	}
}
