package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// survey is which rows of a unit there are, and what follows from that for this program.
type survey struct {
	all []projection.Generations // aligned with the unit's projections
	verdict

	// held: the generation that is being built has served, and does not again before somebody asks for it.
	held bool
	// othersBuild: another version of the program builds rows, of the same shared store.
	othersBuild bool
	// since is when the former generation ceased to serve; zero where there is none.
	since time.Time

	fingerprint string    // of what was on record before the survey, or is still the same in another
	at          time.Time // of the survey
}

// verdict is what this program does, by the rows that there are.
type verdict struct {
	// folds: this program folds the rows that serve, or begins them where there are none that could serve.
	folds bool
	// begins: a generation is to be begun beside what serves, maybe in the place of one that is lost.
	begins bool
	// drops: what is being built is lost, and so are the rows that it was to follow: these are begun again.
	drops bool
	// resumes: the former generation is this program's, and it is to be built further.
	resumes bool
	// builds: this program folds the generation that is being built.
	builds bool
	// gained: others have folded the rows that serve on, on a shared store, and their enums have more values.
	gained bool
	// requested: somebody has asked for rows of whichever program begins them.
	requested bool
	// why says, where this program neither folds what serves nor builds, what an operator can do about it.
	why string
}

// surveyEvery is how often the rows are surveyed, at least: a table may be lost without a word on record.
const surveyEvery = 5 * time.Second

// holds reports whether another survey of the unit would find the same.
func (s *survey) holds(ctx context.Context, u *unit) (bool, error) {
	now, err := u.set.watch.read(ctx, u, changesWithin)
	if err != nil || now == s.fingerprint && time.Since(s.at) < surveyEvery {
		return err == nil, err
	}
	var again survey
	if now == s.fingerprint {
		again, err = lookWithOthers(ctx, u, time.Now().Add(-surveyEvery/2))
	} else {
		again, err = u.look(ctx)
	}
	if err != nil || !again.same(s) {
		return false, err
	}
	s.fingerprint, s.at = again.fingerprint, again.at
	return true, nil
}

// waits reports whether there are rows that were switched away from, and that nobody folds.
func (s *survey) waits() bool { return s.held && !s.builds && s.every(ownBuilding) }

// isStill is holds where other processes may change which rows there are.
func (s *survey) isStill(ctx context.Context, u *unit) (bool, error) {
	if !u.set.keep.DB.MultiWriter() {
		return true, nil
	}
	return s.holds(ctx, u)
}

// look surveys the rows of the unit.
func (u *unit) look(ctx context.Context) (survey, error) {
	at := time.Now()
	fingerprint, err := u.set.watch.read(ctx, u, pollBuildEvery/2) // before what it is of
	if err != nil {
		return survey{}, err
	}
	all, err := projection.LookUp(ctx, u.set.keep.DB, u.projections)
	if err != nil {
		return survey{}, fmt.Errorf("find out which rows of %s there are: %w", strings.Join(names(u.projections), ", "), err)
	}
	return surveyed(ctx, u, all, fingerprint, at)
}

// lookWithOthers is look by a survey of the rows of all units, which is not older than since. Units that look at the
// same time share one. What is wrong with the rows of another unit is no matter of this one.
func lookWithOthers(ctx context.Context, u *unit, since time.Time) (survey, error) {
	all, err := u.set.watch.survey(ctx, u.set, since)
	if err != nil {
		return u.look(ctx)
	}
	own := make([]projection.Generations, len(u.projections))
	for i, p := range u.projections {
		own[i] = all.rows[p.Name]
	}
	return surveyed(ctx, u, own, concerning(u, all.notes), all.at)
}

// surveyed is the survey that has found the rows.
func surveyed(ctx context.Context, u *unit, all []projection.Generations, fingerprint string, at time.Time) (
	survey, error) {
	s, err := assess(ctx, u.set.keep.DB, u.projections, all)
	s.fingerprint, s.at = fingerprint, at
	if s.begins && !s.folds && !s.requested && hasFolded(u) {
		s.begins, s.why = false, "another version folds other rows in the place of these, so this server can no longer "+
			"update its rows: end this server, or have its rows built anew with 'server rebuild start'"
	}
	return s, err
}

// hasFolded reports whether the program has folded rows that served since it started.
func hasFolded(u *unit) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.folded
}

// foldsServing reports whether this program folds the rows that serve, or is about to.
func foldsServing(u *unit) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.found.folds || u.switches
}

// NextWork is what a start does with rows of projections that change generation together, beside those that serve.
type NextWork struct {
	Resumes bool   // it goes on with the former rows, which are of this program
	Builds  bool   // it goes on with the rows that are being built
	Why     string // why it makes no rows, and what an operator can do about it; "" where it does, or has none to make
}

// NextStart says what a start of the program does with the rows of projections that change generation together.
func NextStart(ctx context.Context, db *querydb.DB, unit []projection.Projection) (NextWork, error) {
	all, err := projection.LookUp(ctx, db, unit)
	if err != nil {
		return NextWork{}, fmt.Errorf("find out which rows of %s there are: %w", strings.Join(names(unit), ", "), err)
	}
	s, err := assess(ctx, db, unit, all)
	return NextWork{Resumes: s.resumes, Builds: s.builds, Why: s.why}, err
}

// assess says what follows from the rows that there are of the projections.
func assess(ctx context.Context, db *querydb.DB, of []projection.Projection, all []projection.Generations) (
	survey, error) {
	s := newSurvey(all, db.MultiWriter())
	if !s.begins {
		return s, nil
	}
	err := projection.FitsSwitch(ctx, db, of)
	if errors.Is(err, querydb.ErrTooLarge) {
		s.begins, s.why = false, "no rows are built: "+err.Error()
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("find out whether rows of %s can be switched to: %w", strings.Join(names(of), ", "), err)
	}
	return s, nil
}

// newSurvey says what follows from the rows, on a shared store or one of the program's own, apart from how many can be
// switched to.
func newSurvey(all []projection.Generations, shared bool) survey {
	s := survey{all: all}
	for i := range all {
		if all[i].Since.After(s.since) {
			s.since = all[i].Since
		}
	}
	r := s.rows(shared)
	s.held, s.othersBuild, s.verdict = r.held, r.othersBuild, decide(r, shared)
	return s
}

// decide says what this program does about the rows, of which the first that holds counts.
func decide(r rowsFound, shared bool) verdict {
	folds := !r.foreign
	switch {
	case r.asked && !r.othersBuild:
		return verdict{folds: folds, begins: true}
	case folds && r.held:
		return verdict{folds: true}
	case folds:
		return verdict{folds: true, builds: r.own && !r.lost, begins: r.lost && r.servable, drops: r.lost && !r.servable}
	case r.requested && !r.othersBuild:
		return verdict{begins: true, requested: true}
	case r.own:
		return verdict{builds: !r.lost, begins: r.lost}
	case r.othersBuild:
		return verdict{why: "another version of the program is building rows of its own: wait until they serve, or abort " +
			"that with 'server rebuild abort'"}
	case r.held && !r.building && shared && !r.requested:
		return verdict{why: "rows that served lately are kept beside those that serve, and nothing is on record of who " +
			"folds them: remove them with 'server rebuild abort', and build others with 'server rebuild start'"}
	case r.gained:
		return verdict{gained: true, why: replaceProgram + ", or, if the values were taken back, run 'server tables apply' " +
			"and 'server rebuild start'"}
	case r.former && !shared:
		return verdict{resumes: true}
	case shared && r.left:
		return verdict{why: "another version has given the models other tables, and its rows serve: if it is not to come " +
			"back, end all its servers, and build rows here with 'server rebuild start'"}
	case r.former:
		return verdict{why: "these rows served before those of another version: go back to them with 'server rebuild " +
			"rollback', or build them anew with 'server rebuild start'"}
	case r.aborted && !r.building && !r.requested:
		return verdict{why: "the rebuild was aborted: begin another with 'server rebuild start'"}
	}
	return verdict{begins: true}
}

// rowsFound are which rows there are, of this program and of others.
type rowsFound struct {
	servable  bool // rows serve, or can
	foreign   bool // others fold rows that serve
	gained    bool // that differ from this program's only in that their enums have more values
	asked     bool // somebody has asked for other rows in the place of the program's own
	requested bool // somebody has asked for rows of whichever program begins them
	building  bool // rows are being built
	own       bool // by this program, all of them
	lost      bool // and of these some are gone
	// othersBuild and held are as in a survey.
	othersBuild, held bool
	former            bool // those that served before are the program's own
	// left: the rows of this program are in its tables, where they served before others came to serve elsewhere.
	left bool
	// aborted: a build of this version of the models was aborted; of some of them other versions may have the same.
	aborted bool
}

func (s *survey) rows(shared bool) rowsFound {
	r := rowsFound{
		servable:  s.any(func(g *projection.Generations) bool { return g.Servable }),
		foreign:   s.any(func(g *projection.Generations) bool { return g.Servable && !ownServing(g) }),
		asked:     s.any(func(g *projection.Generations) bool { return g.Servable && ownServing(g) && g.Serving.Asked }),
		requested: s.any(func(g *projection.Generations) bool { return g.Servable && g.Asked }),
		building:  s.any(func(g *projection.Generations) bool { return g.Building != nil }),
		own:       s.every(ownBuilding),
		held:      s.any(func(g *projection.Generations) bool { return g.Held }),
		former:    s.every(func(g *projection.Generations) bool { return g.Former != nil && g.Former.Own }),
		left:      s.left(),
		aborted:   s.aborted(),
	}
	r.othersBuild = shared && s.any(func(g *projection.Generations) bool {
		return g.Building != nil && !g.Building.Own
	})
	r.lost = r.own && s.any(func(g *projection.Generations) bool { return g.Building.Lost })
	r.gained = shared && r.foreign && s.every(func(g *projection.Generations) bool {
		return !g.Servable || ownServing(g) || g.Serving != nil && g.Serving.Gained
	})
	return r
}

// left reports whether the rows of this program are in its tables, where they served before others came to serve
// elsewhere.
func (s *survey) left() bool {
	return s.any(func(g *projection.Generations) bool { return g.Left }) && s.every(func(g *projection.Generations) bool {
		return g.Left || ownServing(g) || g.Former != nil && g.Former.Own
	})
}

// aborted reports whether a build of this version of the models was aborted; of some of them other versions may have
// the same.
func (s *survey) aborted() bool {
	return s.any(func(g *projection.Generations) bool { return g.Aborted }) &&
		!s.any(func(g *projection.Generations) bool { return g.OtherAborted })
}

// replaceProgram says what to do about rows that others have folded on with more values of enums.
const replaceProgram = "a server whose enums have more values has folded these rows lately: run a program of that " +
	"version in the place of this one"

// elsewhere are the rows that serve from tables which their models had before, and the models in whose tables such rows
// of others do.
func (s *survey) elsewhere() (all []querydb.Served, others []*querydb.Model) {
	for i := range s.all {
		all, others = append(all, s.all[i].ServesElsewhere()...), append(others, s.all[i].ServesOthers()...)
	}
	return all, others
}

// ownServing reports whether the rows that serve are those that this program folds.
func ownServing(g *projection.Generations) bool { return g.Serving != nil && g.Serving.Own }

// ownBuilding reports whether the rows beside those that serve are those that this program folds.
func ownBuilding(g *projection.Generations) bool { return g.Building != nil && g.Building.Own }

// completeServing reports whether the rows that serve are those of this program, and complete.
func completeServing(g *projection.Generations) bool { return ownServing(g) && g.Serving.Complete }

func (s *survey) any(is func(*projection.Generations) bool) bool {
	for i := range s.all {
		if is(&s.all[i]) {
			return true
		}
	}
	return false
}

func (s *survey) every(is func(*projection.Generations) bool) bool {
	return !s.any(func(g *projection.Generations) bool { return !is(g) })
}

// switches reports whether what is being built serves, once it can, without anybody asking for it.
func (s *survey) switches(keep *Keep) bool { return s.builds && !s.held && !keep.Manual }

// same reports whether what this program does is the same after another survey.
func (s *survey) same(o *survey) bool {
	if s.folds != o.folds || s.begins != o.begins || s.drops != o.drops || s.resumes != o.resumes ||
		s.builds != o.builds || s.held != o.held || s.why != o.why || len(s.all) != len(o.all) {
		return false
	}
	for i := range s.all {
		if !s.folds && !s.all[i].Serving.SameEnums(o.all[i].Serving) || // queries go by their layout
			generationOf(s.all[i].Serving) != generationOf(o.all[i].Serving) ||
			generationOf(s.all[i].Building) != generationOf(o.all[i].Building) ||
			generationOf(s.all[i].Former) != generationOf(o.all[i].Former) {
			return false
		}
	}
	return true
}

// differs reports whether other rows serve after another survey: complete ones in the place of complete ones.
func (s *survey) differs(o *survey) bool {
	for i := range s.all {
		was, is := s.all[i].Serving, o.all[i].Serving
		if was != nil && was.Complete && is != nil && is.Complete && generationOf(was) != generationOf(is) {
			return true
		}
	}
	return false
}

// generationOf is the number of the generation of the first table; -1 where there are no rows.
func generationOf(r *projection.Rows) int {
	if r == nil {
		return -1
	}
	return r.Tables[0].Generation
}

// models are those of the projections, each once.
func models(of []projection.Projection) (all []*querydb.Model) {
	known := map[*querydb.Model]bool{}
	for _, p := range of {
		for _, m := range p.Models() {
			if !known[m] {
				known[m] = true
				all = append(all, m)
			}
		}
	}
	return all
}
