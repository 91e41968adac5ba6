package projections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/plural"
)

// Decision is what can be done with a dead letter.
type Decision = func(*projection.Runner, context.Context, string) error

// Decisions are what is decided about dead letters of a projection, in the rows that serve and in those that are built.
type Decisions struct{ *Running }

// Decisions returns what decides.
func (r *Running) Decisions() Decisions { return Decisions{r} }

// Resolve decides about an event in the rows that serve or, where it is no dead letter of these, in those that are
// built beside them. It is projection.ErrNoDeadLetter where the event is one in neither. See Follow.
func (d Decisions) Resolve(ctx context.Context, ref string, do Decision) error {
	defer d.holdGenerations()()
	err := error(projection.ErrNoDeadLetter)
	if _, _, frozen := d.frozen.now(); !frozen {
		err = do(d.Runner, ctx, ref)
	}
	if !errors.Is(err, projection.ErrNoDeadLetter) {
		return err
	}
	b, failed := d.build.builder(!started(d.Running))
	if failed != nil {
		return failed
	}
	if b == nil {
		return err
	}
	if beside := do(b, ctx, ref); !errors.Is(beside, projection.ErrNotBuilt) {
		return beside
	}
	return err
}

// Follow has what Resolve has decided hold for the rows that serve and for those that are built, and lets the runners
// go on that have stopped at the event; "" stands for several.
func (d Decisions) Follow(ctx context.Context, ref string) {
	defer d.holdGenerations()()
	d.tell()
	b, err := d.build.builder(!started(d.Running))
	if b != nil && err == nil {
		if _, _, frozen := d.frozen.now(); !frozen {
			err = d.Runner.ReadDecisions(ctx)
		}
		err = errors.Join(err, b.ReadDecisions(ctx))
	}
	if err != nil && !otherRows(err) {
		d.unit.set.log.WarnContext(ctx, "decisions about dead letters are not yet applied to the other generation",
			"projection", d.Name, "error", err)
	}
	d.Decide(ctx, ref)
	if one := d.build.runner(); one != nil {
		one.Decide(ctx, ref)
	}
}

// tell has servers that follow this one look at what was decided.
func (d Decisions) tell() {
	if d.unit != nil {
		d.unit.set.decisions.Add(1)
	}
}

// holdGenerations has no generation begin, and none serve in place of another, before what it returns is called.
func (d Decisions) holdGenerations() (release func()) {
	if d.unit == nil {
		return func() {}
	}
	d.unit.arranging.RLock()
	return d.unit.arranging.RUnlock
}

// BuildDeadLetters lists dead letters of the rows that are being built, whoever builds them: see
// projection.Runner.DeadLetters.
func (d Decisions) BuildDeadLetters(ctx context.Context, after string, limit int) ([]projection.DeadLetter, error) {
	b, err := d.build.builder(true)
	if b == nil || err != nil {
		return nil, err
	}
	return b.DeadLetters(ctx, after, limit)
}

// Undecided lists dead letters of the rows that serve and of those that are being built, each event once, in the order
// of the list of either.
func (d Decisions) Undecided(ctx context.Context, after string, limit int) ([]projection.DeadLetter, error) {
	all, err := d.DeadLetters(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	built, err := d.BuildDeadLetters(ctx, after, limit)
	if err != nil || len(built) == 0 {
		return all, err
	}
	place := func(a, b projection.DeadLetter) int { return strings.Compare(placeOf(a.Ref), placeOf(b.Ref)) }
	all = append(all, built...)
	slices.SortStableFunc(all, place)
	all = slices.CompactFunc(all, func(a, b projection.DeadLetter) bool { return a.Ref == b.Ref })
	return all[:min(len(all), limit)], nil
}

// placeOf is a text that sorts as lists of dead letters do.
func placeOf(ref string) string {
	at := strings.LastIndexByte(ref, '@') + 1
	offset, _ := strconv.ParseUint(ref[at:], 10, 64) // it is of a list, and so a number
	return fmt.Sprintf("%s%020d", ref[:at], offset)
}

// builder is the Runner of the rows that are being built; nil where this process does not build them. Where it may be
// anybody's, it is one that never runs then.
func (b *buildRunner) builder(anybodys bool) (*projection.Runner, error) {
	if one := b.runner(); one != nil {
		return one.Runner, nil
	}
	if b.unit == nil || !anybodys {
		return nil, nil
	}
	set := b.unit.set
	return projection.NewRunner(b.unit.projections[b.i], set.source, set.buildDB, set.cfg)
}

// Cascades are those of the rows that serve, where this program folds them: see projection.Runner.Cascades. Before
// Start they are read of whatever rows serve, and nothing is written: a Runner begins rows anew that are not its own.
func (r *Running) Cascades(ctx context.Context) (pending int, failed []projection.FailedCascade, err error) {
	if !started(r) {
		lacks, err := projection.ServingBacklog(ctx, r.frozen.db, r.frozen.of)
		return lacks.Cascades, lacks.FailedCascades, err
	}
	if _, _, frozen := r.frozen.now(); frozen {
		return 0, nil, nil
	}
	return r.Runner.Cascades(ctx)
}

// started reports whether this process folds: a command that works on a store while no server runs does not.
func started(f *Running) bool { return f.unit == nil || f.unit.set.started }

// losses are what the rows that are built lack of the rows that serve, as it was looked up last.
type losses struct {
	at        time.Time
	wait      time.Duration // until it is looked up again
	letters   int           // of the rows that are built
	decisions uint64        // Set.decisions
	lost      lost
}

// pollEveryAtMost is how often it is looked up, in the end, what a person has to decide about, which can take weeks:
// each time reads all dead letters.
const pollEveryAtMost = time.Minute

// nextWait is how long to wait with the next look after one that has come after a wait, and may have found the same.
func nextWait(after time.Duration, same bool) time.Duration {
	if !same {
		return pollEvery
	}
	return min(max(2*after, pollEvery), pollEveryAtMost)
}

// hold reports whether the losses need not be looked up again, as there are so many dead letters and decisions now.
func (l *losses) hold(letters int, decisions uint64) bool {
	return l.lost != (lost{}) && l.letters == letters && l.decisions == decisions && time.Since(l.at) < l.wait
}

// look notes what was looked up. The next look comes later each time, as long as nothing changes.
func (l *losses) look(letters int, decisions uint64, now lost) {
	same := now == l.lost && now.needed == "" && l.letters == letters && l.decisions == decisions
	*l = losses{time.Now(), nextWait(l.wait, same), letters, decisions, now}
}

// lost is what rows that are built lack of the rows that serve.
type lost struct {
	letters   int // of their dead letters, those that are none of the rows that serve
	decisions int // about events, under names that the projections had before
	// needed are the projections whose rows serve from the former rows, which a switch would drop.
	needed string
}

// none reports whether a switch to the rows that the unit builds would lose no event that the rows that serve show, and
// have no event take effect that was skipped in these.
func (l *losses) none(ctx context.Context, u *unit) bool {
	letters, decisions := 0, u.set.decisions.Load()
	for _, one := range u.of {
		letters += one.build.runner().Reached().DeadLetters
	}
	if l.hold(letters, decisions) {
		return false
	}
	was := l.lost
	now, err := lookUpLosses(ctx, u)
	if err != nil {
		u.log(slog.LevelError, "the dead letters of rows that are built cannot be compared with those of the rows that "+
			"serve; trying again", "error", err)
		return false
	}
	l.look(letters, decisions, now)
	if now == (lost{}) {
		return true
	}
	if now != was {
		u.log(slog.LevelWarn, "rows that are built are not switched to", "why", now.waits())
	}
	if !u.readDecisions(ctx) {
		l.wait = pollEvery
	}
	return false
}

// readDecisions does to the rows that are built what was decided, once more: it may have failed when that was decided.
// It reports whether it has succeeded.
func (u *unit) readDecisions(ctx context.Context) bool {
	all := true
	for _, one := range u.of {
		if err := one.build.runner().ReadDecisions(ctx); err != nil {
			all = false
			u.log(slog.LevelWarn, "decisions about dead letters are not yet applied to the rows that are built; trying "+
				"again", "error", err)
		}
	}
	return all
}

// lookUpLosses looks up what the rows that the unit builds lack.
func lookUpLosses(ctx context.Context, u *unit) (sum lost, err error) {
	all := allNames(u.set)
	for i, one := range u.of {
		var l lost
		if l.letters, err = projection.CountNewDeadLetters(ctx, u.set.keep.DB, u.projections[i]); err != nil {
			return lost{}, err
		}
		if l.decisions, err = projection.FormerDecisions(ctx, u.set.keep.DB, u.projections[i], all); err != nil {
			return lost{}, err
		}
		one.build.lose(l)
		sum = lost{letters: sum.letters + l.letters, decisions: sum.decisions + l.decisions}
	}
	by, err := projection.NeededBy(ctx, u.set.keep.DB, querydb.SwitchToBuilt, u.projections, present(u.set))
	sum.needed = strings.Join(by, ", ")
	return sum, err
}

// waits says why rows that are built are not switched to.
func (l lost) waits() string {
	if l.needed != "" {
		return "the rows of " + l.needed + " serve from the former ones, which the switch would remove, since their models " +
			"had the tables before: switch to others of theirs first"
	}
	var why []string
	if l.letters > 0 {
		why = append(why, fmt.Sprintf("they have %s that the rows that serve do not have: see 'server deadletters list "+
			"--building', then retry or skip each", plural.Count(l.letters, "dead letter")))
	}
	if l.decisions > 0 {
		why = append(why, fmt.Sprintf("a retry or a skip of %s is on record under a former name of the projection, and "+
			"these rows know nothing of that: have the projector ignore what was skipped, look at the rows",
			plural.Count(l.decisions, "event")))
	}
	return strings.Join(why, "; ") + ", or switch with 'server rebuild switch'"
}

func (b *buildRunner) lose(l lost) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = l
}

func (b *buildRunner) losses() lost {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}
