package projectiontest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// Evolution says that events of former versions give the rows that present ones give.
type Evolution struct {
	// Projections are those of the program, of all its models.
	Projections []projection.Projection
	// Types are the project's event.Types.
	Types eventlog.Types
	// Samples is a folder that holds events as they are written in each version of their data, a file for each: NUMBER-
	// TYPE.vVERSION.json. The files of one number are one event, and their data say the same; numbers are the order of
	// the log. The type may be one that the event had before.
	Samples fs.FS
}

// RunEvolution folds logs of the samples: one in which each event is of its last version; for each version one in which
// all events are of it, as far as they have it; and some in which versions alternate. All must give the same rows, and
// no dead letter. Each sample must be what the schema says of its version, and there must be one of each version of
// each event that has several.
func RunEvolution(t testing.TB, e Evolution) {
	t.Helper()
	if err := e.check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// check returns what is wrong, nil for nothing.
func (e *Evolution) check(ctx context.Context) error {
	all, err := readSamples(e.Samples)
	if err != nil {
		return err
	}
	if err := all.fit(e.Types); err != nil {
		return err
	}
	rows := 0
	for _, p := range projection.Group(e.Projections) {
		n, err := e.same(ctx, p, all)
		if err != nil {
			return fmt.Errorf("projection %s: %w", p.Name, err)
		}
		rows += n
	}
	if rows == 0 {
		return fmt.Errorf("the samples give no row, so they show nothing: add events that give some")
	}
	return nil
}

// same compares the rows of one projection, and returns how many there are.
func (e *Evolution) same(ctx context.Context, p projection.Projection, all samples) (rows int, err error) {
	present, err := e.fold(ctx, p, all.log(last))
	if err != nil {
		return 0, fmt.Errorf("fold the samples of the last version of each event: %w", err)
	}
	for _, of := range present.Rows {
		rows += len(of)
	}
	for _, o := range all.others() {
		got, err := e.fold(ctx, p, all.log(o.choose))
		if err != nil {
			return 0, fmt.Errorf("fold the samples %s: %w", o.name, err)
		}
		c := e.testCase(p, nil)
		if diff := c.compare(present, got, "of last versions", "now"); diff != "" {
			return 0, fmt.Errorf("the samples %s give something else than those of the last version of each event (correct "+
				"the upcaster, or the sample):\n%s", o.name, diff)
		}
	}
	return rows, nil
}

// fold folds a log once; an event that becomes a dead letter is an error.
func (e *Evolution) fold(ctx context.Context, p projection.Projection, log []Event) (result, error) {
	c := e.testCase(p, log)
	events, err := c.events()
	if err != nil {
		return result{}, err
	}
	got, _, err := c.fold(ctx, once(events))
	if err == nil && len(got.DeadLetters) > 0 {
		l := got.DeadLetters[0]
		n, _ := number(l.ID)
		err = fmt.Errorf("event %s (%s of version %d) is a dead letter: %s", l.ID, log[n-1].Type, max(1, log[n-1].Version),
			l.Reason)
	}
	return got, err
}

func (e *Evolution) testCase(p projection.Projection, log []Event) *testCase {
	c := &testCase{projection: p, given: log, types: e.Types}
	for _, one := range e.Projections {
		if slices.Contains(p.Members(), one.Name) {
			c.members = append(c.members, one)
		}
	}
	for _, m := range p.Models() {
		c.want = append(c.want, storedRows{m})
	}
	return c
}

// choice chooses one of the versions of each event. Its name completes "the samples …".
type choice struct {
	name   string
	choose func(i, versions int) (version int)
}

// others are the choices but for the last version of each event.
func (s samples) others() (all []choice) {
	most := 1
	for _, one := range s {
		most = max(most, len(one))
	}
	for n := 1; n < most; n++ {
		all = append(all, choice{fmt.Sprintf("of version %d", n), func(_, versions int) int { return min(n, versions) }})
	}
	for n := range most {
		all = append(all, choice{fmt.Sprintf("of alternating versions, the first of version %d", n+1),
			func(i, versions int) int { return (i+n)%versions + 1 }})
	}
	return all
}

// last chooses the last version of each event.
func last(_, versions int) int { return versions }

// log is the log of the samples of the versions that are chosen.
func (s samples) log(choose func(i, versions int) (version int)) []Event {
	log := make([]Event, len(s))
	for i, versions := range s {
		log[i] = versions[choose(i, len(versions))-1]
		log[i].ID = "" // its number, in all versions
	}
	return log
}

// fit holds the samples to what the schema says of them, and finds versions of which there is none.
func (s samples) fit(types eventlog.Types) error {
	shown := map[string]bool{} // by the type's present name
	for _, versions := range s {
		for _, sample := range versions {
			declared := types[sample.Type]
			if declared == nil || declared.Retired {
				return fmt.Errorf("sample %s: no event %s is in use", sample.ID, sample.Type)
			}
			if err := sample.check(declared); err != nil {
				return fmt.Errorf("sample %s: %w", sample.ID, err)
			}
			if other := types[versions[0].Type]; other.Name != declared.Name {
				return fmt.Errorf("sample %s is of an event %s, and other files of its number are of %s", sample.ID, declared.Name,
					other.Name)
			}
			shown[declared.Name] = true
		}
		if declared := types[versions[0].Type]; len(versions) <= len(declared.Former) {
			return fmt.Errorf("sample %s is in %d versions, and %s has %d: add it in all of them", versions[0].ID, len(versions),
				declared.Name, len(declared.Former)+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if t := types[name]; len(t.Former) > 0 && !shown[t.Name] {
			return fmt.Errorf("there is no sample of %s, which has %d versions: add one to the samples in each of them, such "+
				"as %d-%s.v1.json", t.Name, len(t.Former)+1, len(s)+1, t.Name)
		}
	}
	return nil
}

// check holds a sample to its type.
func (e *Event) check(declared *eventlog.Type) error {
	event, err := e.event()
	if err != nil {
		return err
	}
	_, err = declared.CheckEvent(&event)
	return err
}
