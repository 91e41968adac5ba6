package projection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/projection/internal/delivery"
)

// State is what a Runner is doing.
type State string

// The states of a Runner.
const (
	StateCatchingUp State = "catching up" // folding events that are there
	StateLive       State = "live"        // every event that is there is folded
	StateStalled    State = "stalled"     // behind and making no progress: see LastError
	StateStopped    State = "stopped"     // Run is not running
	StateFrozen     State = "frozen"      // the rows are of another program, which this one does not fold
	StateFollowing  State = "following"   // other processes fold the rows, and this one does not
)

// Status is the progress and health of a Runner.
type Status struct {
	Projection string            `json:"projection"`
	Models     []string          `json:"models"` // names; several where the projection is a group
	State      State             `json:"state"`
	Partitions []PartitionStatus `json:"partitions"`
	Lag        uint64            `json:"lag"` // events behind, over the partitions whose head is known
	// LagKnown: the source says where each partition ends now; else Lag may be too small.
	LagKnown bool `json:"lagKnown"`
	// EventsPerSecond and RowsPerSecond are the rates of the last ten seconds.
	EventsPerSecond float64 `json:"eventsPerSecond"`
	RowsPerSecond   float64 `json:"rowsPerSecond"`
	// ETASeconds is how long the lag takes at that rate; negative where that is unknown.
	ETASeconds  float64 `json:"etaSeconds"`
	DeadLetters int     `json:"deadLetters"` // events that could not be folded, and those blocked by them
	// Cascades is how many rows have changed and are yet to be followed by copies of them.
	Cascades int `json:"cascades,omitempty"`
	// FailedCascades are rows of which some copies could not follow a change: see Runner.FailedCascades.
	FailedCascades []FailedCascade `json:"failedCascades,omitempty"`
	// Events, Rows and Commits count since the Runner was made.
	Events  uint64 `json:"events"`
	Rows    uint64 `json:"rows"`
	Commits uint64 `json:"commits"`
	// LastError is what is being tried again, or what stopped the Runner; "" where nothing is wrong.
	LastError string `json:"lastError,omitempty"`
	// Rebuilding: the rows are those of a part of the log, and are not served before they are those of the whole.
	Rebuilding bool `json:"rebuilding,omitempty"`
	// Stop is the event that has stopped the Runner; nil where none has.
	Stop *StopError `json:"stop,omitempty"`
	// AbandonedCalls counts the calls of the projection's code that were given up and still have not returned. Only the
	// end of the process ends them.
	AbandonedCalls int64 `json:"abandoned,omitempty"`
	// LastErrorAt is when the last error happened, though the Runner may have recovered; zero where there was none.
	LastErrorAt time.Time `json:"lastErrorAt,omitzero"`
	// FailingSince is since when something has been tried again without success; zero where nothing is: see LastError.
	FailingSince time.Time `json:"failingSince,omitzero"`
	// Frozen: the rows that serve were folded by a program whose models have another form, and this one does not fold
	// them. LastError says what to do where nobody else does, nor builds others.
	Frozen bool `json:"frozen,omitempty"`
	// Copied is how many rows this Runner has copied of those that serve: see BeginBuild.
	Copied uint64 `json:"copied,omitempty"`
	// Build is how far the rows have come that are built beside those that serve; nil where none are.
	Build *BuildStatus `json:"build,omitempty"`
	// Heartbeat is the last sign of life; a Runner gives one at least every RunnerConfig.Heartbeat when idle, and with
	// every window when not.
	Heartbeat time.Time `json:"heartbeat"`
}

// BuildStatus is how far rows have come that are built beside those that serve.
type BuildStatus struct {
	State  State  `json:"state"`
	Folded uint64 `json:"folded"` // events
	// Copied is how many rows of those that serve were copied, where rows are made of them: see BeginBuild.
	Copied          uint64  `json:"copied,omitempty"`
	Total           uint64  `json:"total"`
	Lag             uint64  `json:"lag"`
	LagKnown        bool    `json:"lagKnown"` // as in Status
	EventsPerSecond float64 `json:"eventsPerSecond"`
	ETASeconds      float64 `json:"etaSeconds"` // negative where that is unknown
	Complete        bool    `json:"complete"`   // they are those of the whole log, and can serve
	DeadLetters     int     `json:"deadLetters"`
	Cascades        int     `json:"cascades,omitempty"` // rows that their copies are yet to follow: see Complete
	// NewDeadLetters are those that are none of the rows that serve, once the rows that are built could serve.
	NewDeadLetters int `json:"newDeadLetters,omitempty"`
	// FormerDecisions are events that were retried or skipped under a former name of the projection: see the function.
	FormerDecisions int        `json:"formerDecisions,omitempty"`
	LastError       string     `json:"lastError,omitempty"`
	FailingSince    time.Time  `json:"failingSince,omitzero"` // as in Status
	Stop            *StopError `json:"stop,omitempty"`        // the event that has stopped the build
}

// CheckHealth returns why the rows do not get on, nil where they do: the build has stopped, or something has failed for
// as long as patience. One that is merely slow, since it leaves processors and the store to queries, gets on.
func (b *BuildStatus) CheckHealth(now time.Time, patience time.Duration) error {
	switch {
	case b.Stop != nil:
		return fmt.Errorf("the build of its rows has stopped: %w", b.Stop)
	case b.State == StateStopped && b.LastError != "":
		return fmt.Errorf("the build of its rows has stopped: %s", b.LastError)
	case !b.FailingSince.IsZero() && now.Sub(b.FailingSince) >= patience:
		return fmt.Errorf("the build of its rows has failed since %s: %s", b.FailingSince.UTC().Format(time.RFC3339),
			b.LastError)
	}
	return nil
}

// PartitionStatus is the progress of a Runner in a partition.
type PartitionStatus struct {
	Partition  string `json:"partition"`
	Checkpoint uint64 `json:"checkpoint"` // offset up to which rows are durable
	Head       uint64 `json:"head"`       // offset of the last event
	HeadKnown  bool   `json:"headKnown"`
	Lag        uint64 `json:"lag"` // events behind; 0 where the head is not known
}

// CheckHealth returns why the Runner must not be trusted to be up to date, nil where it may: it is stopped or
// stalled, or has given no sign of life for longer than silence.
func (s *Status) CheckHealth(now time.Time, silence time.Duration) error {
	switch {
	case s.State == StateStopped || s.State == StateStalled:
		if s.LastError != "" {
			return fmt.Errorf("projection %s is %s: %s", s.Projection, s.State, s.LastError)
		}
		return fmt.Errorf("projection %s is %s, %d events behind", s.Projection, s.State, s.Lag)
	case now.Sub(s.Heartbeat) > silence:
		return fmt.Errorf("projection %s has given no sign of life since %s", s.Projection,
			s.Heartbeat.UTC().Format(time.RFC3339))
	}
	return nil
}

// Status reports the progress and health of the Runner. The heads are asked of the source at each call, not of the
// Runner, so that a Runner that reads no more cannot pass for one that has caught up. It works at any time, beside Run.
// Where the source does not answer, the error is [ErrEndUnknown], and the status has all else.
func (r *Runner) Status(ctx context.Context) (Status, error) { return NewHeads(r.src).Status(ctx, r) }

// statusOf is all but what the source knows.
func statusOf(now *delivery.Snapshot) Status {
	s := Status{
		DeadLetters: now.DeadLetters, Cascades: now.Cascades,
		Events: now.Events, Rows: now.Rows, Commits: now.Commits, ETASeconds: -1,
		EventsPerSecond: now.EventsPerSecond, RowsPerSecond: now.RowsPerSecond,
		LastError: now.LastError, LastErrorAt: now.LastErrorAt, FailingSince: now.FailingSince, Heartbeat: now.Heartbeat,
		Stop:       now.Stop,
		Rebuilding: now.Rebuilding, Copied: now.Copied,
	}
	s.FailedCascades = failedCascades(now.FailedCascades)
	for name, offset := range now.Partitions {
		s.Partitions = append(s.Partitions, PartitionStatus{Partition: name, Checkpoint: offset})
	}
	slices.SortFunc(s.Partitions, func(a, b PartitionStatus) int { return cmp.Compare(a.Partition, b.Partition) })
	return s
}

// progress is since when a Runner has been seen behind at the same place.
type progress struct {
	now   func() time.Time
	mu    sync.Mutex
	since time.Time
	at    place
}

// place is how far a Runner has come. Events wait while rows are copied that others are made of, and may wait for
// copies that are to follow their rows: so checkpoints alone do not tell.
type place struct{ checkpoints, copied, cascades uint64 }

// judgeUnknown sets the state of a status whose lag is not known.
func judgeUnknown(s *Status, now *delivery.Snapshot, why error) {
	s.State = StateStopped
	if now.Running {
		s.State, s.LastError = StateStalled, cmp.Or(s.LastError, why.Error())
	}
}

// judge sets the state and the time left of a status whose lag is known.
func (p *progress) judge(s *Status, now *delivery.Snapshot, stallAfter time.Duration) {
	if s.EventsPerSecond > 0 {
		s.ETASeconds = float64(s.Lag) / s.EventsPerSecond
	}
	if s.Lag == 0 {
		s.ETASeconds = 0
	}
	still := p.standsStill(s, now, stallAfter)
	for _, part := range s.Partitions {
		if part.HeadKnown && part.Checkpoint > part.Head {
			still = true
			s.LastError = fmt.Sprintf("partition %q ends at %d, before the checkpoint at %d: the source is another, or was cut",
				part.Partition, part.Head, part.Checkpoint)
		}
	}
	switch {
	case !now.Running:
		s.State = StateStopped
	case still || now.Failing:
		s.State = StateStalled
	case s.Lag == 0 && now.Idle:
		s.State = StateLive
	default:
		s.State = StateCatchingUp
	}
}

// standsStill reports whether the Runner has been behind, at the same place, for too long.
func (p *progress) standsStill(s *Status, of *delivery.Snapshot, stallAfter time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := place{copied: of.Copied, cascades: of.CascadeCommits}
	for _, part := range s.Partitions {
		at.checkpoints += part.Checkpoint
	}
	now := p.now()
	if s.Lag == 0 || p.since.IsZero() || p.at != at {
		p.since, p.at = time.Time{}, at
		if s.Lag > 0 {
			p.since = now
		}
		return false
	}
	return now.Sub(p.since) >= stallAfter
}
