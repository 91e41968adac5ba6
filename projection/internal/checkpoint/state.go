package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// State is what a running projection knows of what is on record about it. It is used by one goroutine at a time.
type State struct {
	p      Projection
	src    eventlog.Source
	db     *querydb.DB
	cfg    Config
	log    *slog.Logger
	watch  Watch
	shared bool // other processes may fold the same rows

	// Running: the dead letters and decisions have been compared with the source.
	Running bool
	// known: what follows is on record, unless another process has gone on since seen. After a commit whose answer was
	// lost it is not.
	known      bool
	found      *standing // by Prepare, for the Open that follows; else nil
	seen       time.Time
	identified time.Time // when the table of the rows was looked at last
	done       Record
	// generations are those of the tables, by name, as they are on record
	generations map[string]int
	// others are those that Open has left to whoever has queries read what serves.
	others    map[string]int
	readiness *readiness
	upgrader  upgrader
	restarter restarter
	// Letters are the dead letters, Decisions what was decided about former ones, and ApplyPoints where these are tried.
	Letters     *deadletter.Index
	Decisions   map[position.Ref]deadletter.Decision
	ApplyPoints deadletter.ApplyPoints
	// Decided counts the readings that have found other decisions about what is yet to come: what was read of the source
	// before goes by the former ones.
	Decided int
	told    uint64 // revision of the note with which others tell of decisions: see Tell
	// Unsettled are the dead letters about which something is decided that may not have been done to them.
	Unsettled []position.Ref
	// Tasks are the rows that their copies have yet to follow.
	Tasks *cascade.Tasks
}

// Config is what a State needs to know.
type Config struct {
	Now           func() time.Time
	CommitTimeout time.Duration // how long a commit may take, on a shared store
	Logger        *slog.Logger
	CopyRows      int    // at most in one commit
	Reread        func() // is called when what was known must be read again
	// KeepServing: where the rows that serve are complete, and not those that are folded, Open is ErrOtherRows, and does
	// not begin them again.
	KeepServing bool
}

// Watch is notified of what a State finds.
type Watch interface {
	Building(rebuilding bool, goal map[string]uint64)
	Rebuild() querydb.Progress
	Copied(rows uint64)
	Opened(partitions map[string]Checkpoint, deadLetters int, tasks *cascade.Tasks)
}

// NewState makes the State of a projection. Nothing is read or written before Open.
func NewState(p Projection, src eventlog.Source, db *querydb.DB, cfg Config, watch Watch) *State {
	ready := &readiness{p: p, src: src, db: db, watch: watch}
	return &State{
		p: p, src: src, db: db, cfg: cfg, log: cfg.Logger, watch: watch, shared: db.MultiWriter(), readiness: ready,
		upgrader: upgrader{p, src, db, cfg.Logger}, restarter: restarter{p, db, cfg.Logger, ready},
		Letters: deadletter.NewIndex(), Tasks: cascade.NewTasks(),
	}
}

// Done is what is on record of the rows.
func (s *State) Done() *Record { return &s.done }

// Invalidate has the next Open read what is on record.
func (s *State) Invalidate() { s.known = false }

// Recheck has the next Open read what is on record if another process has gone on, and reports whether none has.
func (s *State) Recheck(ctx context.Context) (current bool, err error) {
	if s.known {
		s.known, err = s.current(ctx)
	}
	return s.known, err
}

// Open reads what is on record about the projection, unless that is known, compares it with the source, and begins
// again at the first event where the rows are of another version, or elsewhere. On a shared store it also reads it
// where it has been known for long: so a process that was held up for days does not go on from there, with rows deleted
// since that the store has forgotten by now.
func (s *State) Open(ctx context.Context) error {
	now := s.now()
	if s.known && !(s.shared && now.Sub(s.seen) > s.cfg.CommitTimeout/2) {
		if same, err := sameTable(ctx, s, now); err != nil || same {
			return err
		}
	}
	s.known = false
	s.cfg.Reread()
	p, err := standingOf(ctx, s)
	s.found = nil // whatever becomes of it
	if err != nil {
		return err
	}
	if err := s.fits(ctx, &p.Record, p.whole.Claims); err != nil {
		return err
	}
	switch {
	case p.former != nil:
		err = s.upgrader.upgrade(ctx, &p.location)
	case !p.good() && s.db.Generations().Build():
		return ErrNotBuilt
	case !p.good():
		err = s.readiness.keeps(ctx, &p.location, s.cfg.KeepServing)
		if err == ErrOtherRows && p.isOnlyAsked() && !exchanged(s, p) { // until others are begun beside them
			return s.load(ctx, p)
		}
		if err != nil {
			return err
		}
		err = s.restarter.restartFrom(ctx, p, s.done.Table != "")
	case s.cfg.KeepServing && exchanged(s, p):
		return ErrOtherRows
	case p.Code == "" && s.p.Code != "":
		err = recordCode(ctx, s, p.Record)
	case s.p.changesEnums(&p.Header):
		err = recordEnums(ctx, s, p)
	default:
		return s.load(ctx, p)
	}
	if err != nil {
		return err
	}
	return s.Open(ctx)
}

// standingOf is where the rows stand: what Prepare has read a moment ago, where that still holds.
func standingOf(ctx context.Context, s *State) (*standing, error) {
	if s.found != nil {
		if holds, err := s.found.confirm(ctx, s.db, s.p, s.now()); err != nil || holds {
			return s.found, err
		}
	}
	p, err := readStanding(ctx, s.db, s.p, s.now)
	return &p, err
}

// exchanged reports, once, whether others have had complete rows serve in the place of those that are folded. Whoever
// keeps these serving has queries go over to the others, of all models at once.
func exchanged(s *State, p *standing) bool {
	at := p.generations()
	if s.done.Table == "" || s.db.Generations().Build() || !p.whole.of(s.p, p.Generation) || !p.whole.Done ||
		maps.Equal(at, s.others) {
		return false
	}
	for _, t := range p.tables {
		if s.db.Generations().InUse(t.model) != t.serving.Number {
			s.others = at
			return true
		}
	}
	return false
}

// load takes over what is on record.
func (s *State) load(ctx context.Context, p *standing) (err error) {
	for _, t := range p.tables {
		if t.owner == querydb.ProvenanceUnmarked {
			if err := s.db.Tables().Mark(ctx, t.model, t.serving.Number); err != nil {
				return err
			}
		}
	}
	if err := s.readiness.use(ctx, p); err != nil {
		return err
	}
	if s.Letters, err = readLetters(ctx, s.db, p.Kind(KindDeadLetter, s.p.Name)); err != nil {
		return err
	}
	if err = takeDecisions(ctx, s, &p.location); err != nil {
		return err
	}
	s.done, s.seen, s.identified, s.generations = p.Record, p.seen, p.identified, p.generations()
	s.others = nil
	if err = ReadTasks(ctx, s); err != nil {
		return err
	}
	if s.known, err = s.current(ctx); err != nil {
		return err
	}
	if !s.known {
		return fmt.Errorf("%w: another process has gone on with %s", querydb.ErrStale, s.p.Name)
	}
	s.p.setWatermark(s.db, s.expiryWatermark())
	if err := s.readiness.describe(ctx, &s.done.Header); err != nil {
		s.known = false // so the next Open does it
		return err
	}
	s.watch.Opened(s.done.Partitions, s.Letters.Len(), s.Tasks)
	return nil
}

// identifyEvery is how often, at most, a State looks whether the table of its rows is the one that it was.
const identifyEvery = 30 * time.Second

// sameTable reports whether the rows are still in the table, and the notes beside them, that they were in. It looks
// only now and then.
func sameTable(ctx context.Context, s *State, now time.Time) (bool, error) {
	if now.Sub(s.identified) < identifyEvery || !s.db.Tables().HasIDs() {
		return true, nil
	}
	recorded := s.done.tables()
	numbers := make([]int, len(recorded))
	for i, t := range recorded {
		numbers[i] = t.Generation
	}
	are, err := s.db.Tables().Identify(ctx, s.p.Models, numbers)
	if err != nil {
		return false, err
	}
	for i, t := range recorded {
		if are[i] != (querydb.Identity{ID: t.TableID, Provenance: querydb.ProvenanceRecorded}) {
			return false, nil
		}
	}
	s.identified = now
	return true, nil
}

// fits returns a *position.MismatchError where the source is not the one that the rows were folded from, or those
// that they replace, whose checkpoints are kept. Events are looked up one by one for dead letters and decisions too,
// when the projection starts; later on each is where it is used.
func (s *State) fits(ctx context.Context, b *Record, kept Replaced) error {
	w := verifier{position.Verifier{Source: s.src, Projection: s.p.Name}}
	first := func(err error) error { return err }
	if err := w.checkpoints(ctx, b, kept, first); err != nil {
		return err
	}
	if s.Running {
		return nil
	}
	return w.events(ctx, s.db, b, first)
}

// current reports whether what is on record is still what was read or written last.
func (s *State) current(ctx context.Context) (bool, error) {
	if !s.shared { // this process may have switched to other rows
		h, err := readHeader(ctx, s.db, s.done.slot, s.p.Name)
		return err == nil && h.TableRecord == s.done.TableRecord, err
	}
	n, err := s.db.Notes().Get(ctx, s.done.slot.header(), s.p.Name)
	if err != nil || n.Revision != s.done.revision {
		return false, err
	}
	now := Record{slot: s.done.slot, revision: n.Revision}
	now.Partitions, err = readCheckpoints(ctx, s.db, &s.done.Header, s.p.Name)
	return err == nil && now.same(&s.done), err
}

// now is the time as it has gone on while the process was held up, or the machine slept.
func (s *State) now() time.Time { return s.cfg.Now().Round(0) }

// Apply commits a batch that has the checkpoint of the partition among its notes. Where that fails, and not because the
// store refuses the rows, the caller is to call Invalidate.
func (s *State) Apply(ctx context.Context, b querydb.Batch, partition string, c Checkpoint) error {
	began := s.now()
	if err := s.apply(ctx, b); err != nil {
		return err
	}
	s.done, s.seen = s.done.With(partition, c), began
	return nil
}

// ApplyRows commits a batch of rows that no event has changed. Where that fails, the caller is to call Invalidate.
func (s *State) ApplyRows(ctx context.Context, b querydb.Batch) error {
	b.Notes = append(b.Notes, s.done.unchanged(s.p.Name))
	return s.apply(ctx, b)
}

func (s *State) apply(ctx context.Context, b querydb.Batch) error {
	b.Generations, b.Writer, b.Deadline = s.generations, s.p.writer(), s.seen.Add(s.cfg.CommitTimeout)
	return s.db.Apply(ctx, b)
}

// DropFormer removes, in the background, what former generations and a former version have left. Where that fails it
// does no harm; the next start tries again.
func (s *State) DropFormer(ctx context.Context) { s.db.Notes().DropLeftovers(ctx) }

// Expire tells the store which rows no event can find any more. Of a partition that begins now nothing is known before
// its first commit.
func (s *State) Expire(beginning string) {
	at := s.expiryWatermark()
	if _, known := s.done.Partitions[beginning]; !known {
		at = time.Time{}
	}
	s.p.setWatermark(s.db, at)
}

// expiryWatermark is that of what is on record. It is zero where rows are begun, and a partition that had events by
// then has no checkpoint yet: these may find any row. One that had none is left out, as it may never get one: its first
// may miss rows that have been removed.
func (s *State) expiryWatermark() time.Time {
	whole := &s.readiness.completion
	for partition, end := range whole.Goal {
		if _, folded := s.done.Partitions[partition]; !folded && !whole.Done && end > 0 {
			return time.Time{}
		}
	}
	if whole.Goal == nil && !whole.Done {
		return time.Time{}
	}
	return s.done.expiryWatermark()
}

func (p Projection) setWatermark(db *querydb.DB, at time.Time) {
	for _, m := range p.Models {
		db.Expiry().SetWatermark(m, at)
	}
}

// ErrRewound says that what was read is not what is to be folded: another process has begun the projection again.
var ErrRewound = errors.New("another process has restarted the projection")

// DamageError is a note of ours that nothing may be folded over: it cannot be read, or says that the rows are others'.
type DamageError struct{ error }

// Damaged is the DamageError of a note that cannot be read.
func Damaged(err error) error { return DamageError{err} }

// Unwrap returns what is wrong with the note.
func (e DamageError) Unwrap() error { return e.error }
