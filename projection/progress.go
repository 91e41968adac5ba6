package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/querydb"
)

// progress is what Status needs, apart from the fold so that asking never waits for a commit.
type progress struct {
	now func() time.Time

	mu         sync.Mutex
	running    bool
	waiting    bool // the reader has found no further event
	inHand     int  // windows read and not yet folded
	failing    map[act]bool
	partitions map[string]uint64
	aside      int
	events     uint64
	rows       uint64
	commits    uint64
	lastError  string
	lastErrAt  time.Time
	stop       *StopError // why Run has ended
	rebuilding bool       // the rows are not served yet
	goal       map[string]uint64
	heartbeat  time.Time
	behind     standstill
	samples    []sample // one a second, oldest first, for the rates
}

// act is what can fail and be tried again.
type act string

const (
	reading act = "read events"
	opening act = "open"
	folding act = "fold"
)

// standstill is since when the Runner has been seen behind at the same place.
type standstill struct {
	since time.Time
	sum   uint64 // of the checkpoints
}

type sample struct {
	at           time.Time
	events, rows uint64
}

// rateWindow is the time that rates are taken over.
const rateWindow = 10 * time.Second

func newProgress(now func() time.Time) *progress {
	return &progress{now: now, partitions: map[string]uint64{}, failing: map[act]bool{}}
}

func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.waiting, p.inHand = true, false, 0
	p.heartbeat = p.now()
	clear(p.failing)
	p.lastError, p.stop = "", nil
}

func (p *progress) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.stop = false, stopsAt(err)
	if err != nil && !errors.Is(err, context.Canceled) {
		p.lastError, p.lastErrAt = err.Error(), p.now()
	}
}

// rewound says that reading begins again where the checkpoint stands.
func (p *progress) rewound() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting, p.inHand = false, 0
}

func (p *progress) opened(done build, aside int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.partitions)
	for name, c := range done.Partitions {
		p.partitions[name] = c.Offset
	}
	p.aside = aside
	p.mended(opening)
}

// round says that a round of reading begins over these partitions.
func (p *progress) round(partitions []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heartbeat = p.now()
	for _, name := range partitions {
		p.partitions[name] += 0
	}
}

// handed says that a window was read and goes to the fold.
func (p *progress) handed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	p.inHand++
	p.mended(reading)
}

// idle says that nothing is left to read, which is a sign of life.
func (p *progress) idle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heartbeat = p.now()
	p.waiting = true
	p.mended(reading)
}

func (p *progress) failed(what act, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing[what] = true
	p.heartbeat = p.now()
	p.lastError, p.lastErrAt = string(what)+": "+err.Error(), p.heartbeat
}

// mended says that what may have failed has succeeded; the caller holds the lock.
func (p *progress) mended(what act) {
	delete(p.failing, what)
	if len(p.failing) == 0 {
		p.lastError = ""
	}
}

func (p *progress) committed(partition string, offset uint64, rows, aside int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partitions[partition] = offset
	p.aside = aside
	p.rows += uint64(rows)
	p.commits++
	p.heartbeat = p.now()
	p.mended(folding)
}

// folded says that a window is done.
func (p *progress) folded(events int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inHand--
	p.mended(folding)
	now := p.now()
	if n := len(p.samples); n == 0 || now.Sub(p.samples[n-1].at) >= time.Second {
		p.forget(now)
		p.samples = append(p.samples, sample{now, p.events, p.rows})
	}
	p.events += uint64(events)
}

// forget drops samples that are too old for the rates.
func (p *progress) forget(now time.Time) {
	p.samples = slices.DeleteFunc(p.samples, func(s sample) bool { return now.Sub(s.at) > rateWindow })
}

// building says whether the rows are to be served only when the partitions have come to the goal.
func (p *progress) building(rebuilding bool, goal map[string]uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rebuilding, p.goal = rebuilding, goal
}

// rebuild is how far the rows have come that are not served yet.
func (p *progress) rebuild() querydb.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := querydb.Progress{ETASeconds: -1, Stopped: !p.running && (p.lastError != "" || p.stop != nil)}
	for partition, end := range p.goal {
		b.Folded += min(p.partitions[partition], end)
		b.Total += end
	}
	if events, _ := p.rates(); events > 0 && !b.Stopped {
		b.ETASeconds = float64(b.Total-b.Folded) / events
	}
	return b
}

// rates are the events and rows in a second of the last ten; the caller holds the lock.
func (p *progress) rates() (events, rows float64) {
	now := p.now()
	p.forget(now)
	if len(p.samples) == 0 {
		return 0, 0
	}
	first := p.samples[0]
	d := now.Sub(first.at).Seconds()
	if d <= 0 {
		return 0, 0
	}
	return float64(p.events-first.events) / d, float64(p.rows-first.rows) / d
}

// status returns all but what the source knows.
func (p *progress) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{
		DeadLetters: p.aside, Events: p.events, Rows: p.rows, Commits: p.commits, ETASeconds: -1,
		LastError: p.lastError, LastErrorAt: p.lastErrAt, Heartbeat: p.heartbeat, Stop: p.stop,
		Rebuilding: p.rebuilding,
	}
	for name, offset := range p.partitions {
		s.Partitions = append(s.Partitions, PartitionStatus{Partition: name, Checkpoint: offset})
	}
	slices.SortFunc(s.Partitions, func(a, b PartitionStatus) int { return cmp.Compare(a.Partition, b.Partition) })
	s.EventsPerSecond, s.RowsPerSecond = p.rates()
	return s
}

// judge sets the state and the time left of a status whose lag is known.
func (p *progress) judge(s *Status, stallAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.EventsPerSecond > 0 {
		s.ETASeconds = float64(s.Lag) / s.EventsPerSecond
	}
	if s.Lag == 0 {
		s.ETASeconds = 0
	}
	still := p.standsStill(s, stallAfter)
	for _, part := range s.Partitions {
		if part.HeadKnown && part.Checkpoint > part.Head {
			still = true
			s.LastError = fmt.Sprintf("partition %q ends at %d, before the checkpoint at %d: the source is another, or was cut",
				part.Partition, part.Head, part.Checkpoint)
		}
	}
	switch {
	case !p.running:
		s.State = Stopped
	case still || len(p.failing) > 0:
		s.State = Stalled
	case s.Lag == 0 && p.waiting && p.inHand == 0:
		s.State = Live
	default:
		s.State = CatchingUp
	}
}

// standsStill reports whether the Runner has been behind, at the same place, for too long.
func (p *progress) standsStill(s *Status, stallAfter time.Duration) bool {
	var sum uint64
	for _, part := range s.Partitions {
		sum += part.Checkpoint
	}
	now := p.now()
	if s.Lag == 0 || p.behind.since.IsZero() || p.behind.sum != sum {
		p.behind = standstill{sum: sum}
		if s.Lag > 0 {
			p.behind.since = now
		}
		return false
	}
	return now.Sub(p.behind.since) >= stallAfter
}
