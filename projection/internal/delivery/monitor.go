package delivery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
)

// Monitor keeps what a status tells, apart from the fold, so that asking never waits for a commit.
type Monitor struct {
	now func() time.Time

	mu       sync.Mutex
	snapshot Snapshot
	inHand   int // windows read and not yet folded
	waiting  bool
	failing  map[Act]bool
	since    time.Time // when something began to fail; what it says holds where something does
	goal     map[string]uint64
	began    sample            // when the rows were begun that are not served yet, or this process went on with them
	moved    chan struct{}     // closed when there is more to see for those who wait; nil where nobody does
	samples  []sample          // one a second, oldest first, for the rates
	reached  map[string]uint64 // what Reached has given out of snapshot.Partitions; nil where they have moved since
}

// Snapshot is what a Monitor knows.
type Snapshot struct {
	Running bool
	Idle    bool // nothing is left to read or to fold
	Failing bool // something is tried again
	// FailingSince is since when something has been; zero where nothing is.
	FailingSince time.Time
	Rebuilding   bool // the rows are not served yet
	Partitions   map[string]uint64
	DeadLetters  int
	Copied       uint64 // rows of those that serve, since the copy began
	Cascades     int    // rows that their copies have yet to follow
	// CascadeCommits count those in which copies have followed their rows, since the Runner was made.
	CascadeCommits uint64
	// FailedCascades are those that some copies cannot follow.
	FailedCascades []cascade.Task
	// Events, Rows and Commits count since the Runner was made.
	Events, Rows, Commits          uint64
	EventsPerSecond, RowsPerSecond float64
	LastError                      string
	LastErrorAt, Heartbeat         time.Time
	Stop                           *StopError // why Run has ended
}

// Act is what can fail and be tried again.
type Act string

// The acts of a Runner.
const (
	Reading Act = "read events"
	Opening Act = "open"
	Copying Act = "copy rows"
	Folding Act = "fold"
)

type sample struct {
	at           time.Time
	events, rows uint64
}

// rateWindow is the time that rates are taken over.
const rateWindow = 10 * time.Second

func newMonitor(now func() time.Time) *Monitor {
	return &Monitor{now: now, snapshot: Snapshot{Partitions: map[string]uint64{}}, failing: map[Act]bool{}}
}

func (m *Monitor) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.snapshot
	s.Running, m.waiting, m.inHand = true, false, 0
	s.Heartbeat = m.now()
	m.began = sample{s.Heartbeat, s.Events, s.Rows}
	clear(m.failing)
	s.LastError, s.Stop = "", nil
}

func (m *Monitor) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.snapshot
	s.Running, s.Stop = false, StopOf(err)
	if err != nil && !errors.Is(err, context.Canceled) {
		s.LastError, s.LastErrorAt = err.Error(), m.now()
	}
	m.wake()
}

// refreshing says which rows their copies have yet to follow, and in how many commits some have just followed.
func (m *Monitor) refreshing(tasks *cascade.Tasks, commits uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.CascadeCommits += commits
	m.snapshot.Cascades, m.snapshot.FailedCascades, m.snapshot.Heartbeat = tasks.Len(), tasks.Failed(), m.now()
	m.wake()
}

// rewound says that reading begins again where the checkpoint stands.
func (m *Monitor) rewound() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting, m.inHand = false, 0
}

// Copied says how many rows were copied of those that serve.
func (m *Monitor) Copied(rows uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.Copied, m.snapshot.Heartbeat = rows, m.now()
	m.succeeded(Copying)
}

// Opened says how far the projection has come, by what is on record.
func (m *Monitor) Opened(
	partitions map[string]checkpoint.Checkpoint, deadLetters int, tasks *cascade.Tasks,
) {
	m.refreshing(tasks, 0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reached = nil
	clear(m.snapshot.Partitions)
	for name, c := range partitions {
		m.snapshot.Partitions[name] = c.Offset
	}
	m.snapshot.DeadLetters = deadLetters
	m.succeeded(Opening)
	m.wake()
}

// round says that a round of reading begins over these partitions.
func (m *Monitor) round(partitions []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.Heartbeat = m.now()
	m.reached = nil
	for _, name := range partitions {
		m.snapshot.Partitions[name] += 0
	}
}

// Reached tells how far the rows have come: by partition, which the caller must not change, and with how many dead
// letters, and rows that their copies have yet to follow. Every answer to a query asks for it.
func (m *Monitor) Reached() (partitions map[string]uint64, deadLetters, cascades int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reached == nil {
		m.reached = maps.Clone(m.snapshot.Partitions)
	}
	return m.reached, m.snapshot.DeadLetters, m.snapshot.Cascades
}

// handed says that a window was read and goes to the fold.
func (m *Monitor) handed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = false
	m.inHand++
}

// idle says that nothing is left to read, which is a sign of life.
func (m *Monitor) idle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.Heartbeat = m.now()
	m.waiting = true
	m.succeeded(Reading)
}

// tried takes note of how an attempt has ended.
func (m *Monitor) tried(what Act, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.succeeded(what)
		return
	}
	s := &m.snapshot
	s.Heartbeat = m.now()
	if len(m.failing) == 0 {
		m.since = s.Heartbeat
	}
	m.failing[what] = true
	s.LastError, s.LastErrorAt = string(what)+": "+err.Error(), s.Heartbeat
}

// succeeded says that what may have failed has succeeded; the caller holds the lock.
func (m *Monitor) succeeded(what Act) {
	delete(m.failing, what)
	if len(m.failing) == 0 {
		m.snapshot.LastError = ""
	}
}

func (m *Monitor) committed(partition string, offset uint64, rows, deadLetters int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.snapshot
	m.reached = nil
	s.Partitions[partition] = offset
	s.DeadLetters = deadLetters
	s.Rows += uint64(rows)
	s.Commits++
	s.Heartbeat = m.now()
	m.succeeded(Folding)
	m.wake()
}

// folded says that a window is done.
func (m *Monitor) folded(events int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inHand--
	m.succeeded(Folding)
	now := m.now()
	if n := len(m.samples); n == 0 || now.Sub(m.samples[n-1].at) >= time.Second {
		m.samples = append(recent(m.samples, now), sample{now, m.snapshot.Events, m.snapshot.Rows})
	}
	m.snapshot.Events += uint64(events)
}

// recent are the samples that are not too old for the rates.
func recent(samples []sample, now time.Time) []sample {
	return slices.DeleteFunc(samples, func(s sample) bool { return now.Sub(s.at) > rateWindow })
}

// Building says whether the rows are to be served only when the partitions have come to the goal.
func (m *Monitor) Building(rebuilding bool, goal map[string]uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if rebuilding && !m.snapshot.Rebuilding {
		m.began = sample{m.now(), m.snapshot.Events, m.snapshot.Rows}
	}
	m.snapshot.Rebuilding, m.goal = rebuilding, goal
	m.wake()
}

// Completing reports whether the rows have come to all events that are needed to serve them, which is not on record
// yet: copies may be yet to follow their rows, and that takes a commit of its own. A fold that has stopped completes
// nothing.
func Completing(m *Monitor) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.snapshot
	if !s.Rebuilding || !s.Running && (s.LastError != "" || s.Stop != nil) {
		return false
	}
	return m.goal != nil && !eventlog.Offsets(s.Partitions).Behind(m.goal)
}

// foldRate is how fast this process has folded since the rows were begun.
func foldRate(m *Monitor) *rates.Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return rates.Since(m.began.at, m.now(), m.snapshot.Events-m.began.events)
}

// saveRates keeps measurements. The rows need none.
func saveRates(ctx context.Context, r *Runner, measured rates.Rates) {
	if err := rates.Save(ctx, r.db, r.projection.Name, measured); err != nil {
		r.log.WarnContext(ctx, "projection: the duration of the next rebuild is estimated by an older measurement",
			"error", err)
	}
}

// Rebuild is how far the rows have come that are not served yet, on their way to the goal.
func (m *Monitor) Rebuild() querydb.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return progressTo(m, m.goal)
}

// ProgressTo is how far the rows have come on their way to the ends of partitions, or to the goal where that is beyond
// these.
func ProgressTo(m *Monitor, ends map[string]uint64) querydb.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	furthest := maps.Clone(m.snapshot.Partitions)
	for _, all := range []map[string]uint64{ends, m.goal} {
		for partition, end := range all {
			furthest[partition] = max(furthest[partition], end)
		}
	}
	return progressTo(m, furthest)
}

// progressTo is how far the rows have come on their way to the ends; the caller holds the lock.
func progressTo(m *Monitor, ends map[string]uint64) querydb.Progress {
	s := &m.snapshot
	b := querydb.Progress{ETASeconds: -1, Stopped: !s.Running && (s.LastError != "" || s.Stop != nil)}
	for partition, end := range ends {
		b.Folded += min(s.Partitions[partition], end)
		b.Total += end
	}
	if events, _ := m.rates(); events > 0 && !b.Stopped {
		b.ETASeconds = float64(b.Total-b.Folded) / events
	}
	return b
}

// rates are the events and rows in a second of the last ten; the caller holds the lock.
func (m *Monitor) rates() (events, rows float64) {
	now := m.now()
	m.samples = recent(m.samples, now)
	if len(m.samples) == 0 {
		return 0, 0
	}
	first := m.samples[0]
	d := now.Sub(first.at).Seconds()
	if d <= 0 {
		return 0, 0
	}
	return float64(m.snapshot.Events-first.events) / d, float64(m.snapshot.Rows-first.rows) / d
}

// Snapshot returns what is known now.
func (m *Monitor) Snapshot() Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.snapshot
	s.Partitions = maps.Clone(s.Partitions)
	s.Idle, s.Failing = m.waiting && m.inHand == 0, len(m.failing) > 0
	if s.Failing {
		s.FailingSince = m.since
	}
	s.EventsPerSecond, s.RowsPerSecond = m.rates()
	return s
}

// Moved returns what is closed when the rows come further than they are now, or are served.
func (m *Monitor) Moved() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moved == nil {
		m.moved = make(chan struct{})
	}
	return m.moved
}

// wake has those who wait look again; the caller holds the lock.
func (m *Monitor) wake() {
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}
