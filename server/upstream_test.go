package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// upstream is a server that others follow. It ends and starts again at one address, over its own log or another's.
type upstream struct {
	*server
	app  App
	dir  string // of its data
	args []string
}

const upstreamToken = "let me in"

func newUpstream(t *testing.T, app App) *upstream {
	t.Helper()
	u := &upstream{app: app, dir: filepath.Join(t.TempDir(), "data")}
	u.args = []string{"--store", "embedded:" + u.dir, "--cache-mb", "8", "--write-token", upstreamToken}
	u.server = serve(t, app, start{args: u.args})
	u.args = append(u.args, "--listen", strings.TrimPrefix(u.url, "http://"))
	return u
}

func (u *upstream) add(t testing.TB, events []eventlog.Event) {
	t.Helper()
	if status := u.post(t, events, "Authorization", "Bearer "+upstreamToken); status != 201 {
		t.Fatalf("append: status %d", status)
	}
}

// again starts it again over what change makes of its data.
func (u *upstream) again(t testing.TB, change func() error) {
	t.Helper()
	u.end(t)
	if err := change(); err != nil {
		t.Fatal(err)
	}
	u.server = serve(t, u.app, start{args: u.args})
}

func (u *upstream) asItIs() error { return nil }

func (u *upstream) lost() error { return os.RemoveAll(u.dir) }

// saved copies the data, and restored puts the copy in their place.
func (u *upstream) saved(to string) func() error {
	return func() error { return os.CopyFS(to, os.DirFS(u.dir)) }
}

func (u *upstream) restored(from string) func() error {
	return func() error { return errors.Join(u.lost(), os.CopyFS(u.dir, os.DirFS(from))) }
}

// TestTheLogOfARealServerKeepsThePromisesOfASource: of one that asks for a token, folds, and is started again.
func TestTheLogOfARealServerKeepsThePromisesOfASource(t *testing.T) {
	app := newProject(false).App
	app.Events["Happened"] = &eventlog.Type{
		Name: "Happened", Check: anyData, Tags: anyData,
	}
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		u, saved := newUpstream(t, app), filepath.Join(t.TempDir(), "saved")
		return sourcetest.Place{
			Add: u.add, Tails: true, Durable: true,
			Open: func(t testing.TB) eventlog.Source {
				s, err := httpsource.Open(httpsource.Options{URL: u.url, Token: upstreamToken})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Recreate: func(t testing.TB) { u.again(t, u.lost) },
			Leave:    func(t testing.TB) { u.end(t) },
			Return:   func(t testing.TB) { u.server = serve(t, u.app, start{args: u.args}) },
			Save:     func(t testing.TB) { u.again(t, u.saved(saved)) },
			Restore:  func(t testing.TB) { u.again(t, u.restored(saved)) },
		}
	})
}

// TestAServerThatFollowsGoesOnInTheSameLogAlone: another in its place, or an older copy of it that has gone on
// otherwise, is noticed while the server runs, however long it is, and changes no row.
func TestAServerThatFollowsGoesOnInTheSameLogAlone(t *testing.T) {
	for _, name := range []string{"another log", "an older copy"} {
		t.Run(name, func(t *testing.T) {
			app, older := newProject(false).App, filepath.Join(t.TempDir(), "older")
			u := newUpstream(t, app)
			u.add(t, slices.Collect(taskEvents(1, 5)))
			u.again(t, u.saved(older))
			u.add(t, slices.Collect(taskEvents(6, 5)))
			s := serve(t, app, start{args: append(embedded(t), "--events", u.url, "--events-token", upstreamToken)})
			s.until(t, "folded", hasTask(t, s, 10))

			u.again(t, u.asItIs)
			u.add(t, slices.Collect(taskEvents(11, 5)))
			s.until(t, "going on after a restart", hasTask(t, s, 15))

			if name == "another log" {
				u.again(t, u.lost)
			} else {
				u.again(t, u.restored(older))
			}
			u.add(t, slices.Collect(taskEvents(101, 20)))
			s.until(t, "telling", func() bool {
				status, body := s.request(t, "GET", "/readyz", "")
				return status == 503 && strings.Contains(body, "server log accept")
			})
			if !hasTask(t, s, 15)() || hasTask(t, s, 111)() || hasTask(t, s, 120)() {
				t.Error("rows are not as they were")
			}
			s.until(t, "telling the log", func() bool {
				return strings.Contains(s.stderr.String(), "the log is not the one that the rows are folded from")
			})
			if !strings.Contains(s.stderr.String(), "added-15") {
				t.Errorf("it does not name the last event of the rows: %s", &s.stderr)
			}
		})
	}
}

// TestAServerThatFollowsGoesOnWhereTheFileOfTheOtherHasGrown, which that one reads when it is started again. A replay
// ends where the file does.
func TestAServerThatFollowsGoesOnWhereTheFileOfTheOtherHasGrown(t *testing.T) {
	app, file := newProject(false).App, filepath.Join(t.TempDir(), "events.jsonl")
	write := func(n int) error {
		text, err := os.ReadFile(writeLines(t, "events.jsonl", taskEvents(1, n)))
		return errors.Join(err, os.WriteFile(file, text, 0o600))
	}
	if err := write(5); err != nil {
		t.Fatal(err)
	}
	u := newUpstream(t, app)
	u.args = append(u.args, "--events", "file:"+file)
	u.again(t, u.lost) // the rows of a log
	from := []string{"--events", u.url, "--events-token", upstreamToken}
	follower := serve(t, app, start{args: append(embedded(t), from...)})
	copier := serve(t, app, start{args: append(append(embedded(t), from...), "--mirror")})
	for _, s := range []*server{follower, copier} {
		s.until(t, "folded", hasTask(t, s, 5))
	}
	u.again(t, func() error { return write(9) })
	for _, s := range []*server{follower, copier} {
		s.until(t, "going on", hasTask(t, s, 9))
	}
	replay := append(append([]string{"replay"}, embedded(t)...), from...)
	runProgram(t, app, start{args: replay}).wantExit(t, exitDone, "Tasks: 9 events")
}
