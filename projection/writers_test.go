package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

var deviceIDs = []string{"a", "b"}

// drawWritten is a log of what two projections do to the same rows.
func drawWritten(t *rapid.T) []eventlog.Event {
	text := rapid.SampledFrom([]*string{nil, nil, ptr("x"), ptr("y")})
	events := make([]eventlog.Event, rapid.IntRange(1, 24).Draw(t, "events"))
	for i := range events {
		a := Act{ID: rapid.SampledFrom(deviceIDs).Draw(t, "id")}
		a.Op = rapid.SampledFrom([]string{"set", "patch", "patch", "patch", "delete"}).Draw(t, "op")
		writer := rapid.SampledFrom([]string{"enrichment", "telemetry"}).Draw(t, "writer")
		fields := []string{"state", "at"}
		if writer == "enrichment" {
			fields = []string{"account", "email"}
			a.Account, a.Email = text.Draw(t, "account"), text.Draw(t, "email")
		} else {
			a.State = text.Draw(t, "state")
			a.At = rapid.SampledFrom([]*int{nil, ptr(1), ptr(2)}).Draw(t, "at")
		}
		some := rapid.SliceOfN(rapid.SampledFrom(fields), 0, 1)
		a.Clear, a.Remove = some.Draw(t, "clear"), some.Draw(t, "remove")
		events[i] = deviceEvent(writer, "", a)
	}
	return events
}

// writtenOracle does what the events say one after the other: each writer's fields are its own, and the outcomes of its
// patches, in which the other's composites are foreign, are laid over the stored keys.
func writtenOracle(m *querydb.Model, events []eventlog.Event) map[string]storedDevice {
	rows := map[string]storedDevice{}
	for _, e := range events {
		var acts []Act
		if err := json.Unmarshal(e.Data, &acts); err != nil {
			panic(err)
		}
		part := &m.Writers[slices.IndexFunc(m.Writers, func(w querydb.Writer) bool { return w.Name == e.Type })].Part
		for _, a := range acts {
			s := rows[a.ID]
			if s.Indexes == nil {
				s.Device.ID, s.Indexes = ptr(a.ID), make([]querydb.IndexKey, 3)
			}
			s.Writers = slices.DeleteFunc(slices.Clone(s.Writers), func(w string) bool { return w == e.Type })
			s.take(m, part, e.Type, a)
			if len(s.Writers) == 0 {
				delete(rows, a.ID)
			} else {
				rows[a.ID] = s
			}
		}
	}
	return rows
}

func (s *storedDevice) take(m *querydb.Model, part *driver.Part, writer string, a Act) {
	enrichment := writer == "enrichment"
	if a.Op != "patch" {
		if enrichment {
			s.Device.Account, s.Device.Email = nil, nil
		} else {
			s.Device.State, s.Device.At = nil, nil
		}
	}
	said := map[int]keys.FieldChange{}
	if a.Op != "delete" {
		s.Writers = append(s.Writers, writer)
		slices.Sort(s.Writers)
		assign(said, deviceAccount, &s.Device.Account, a.Account)
		assign(said, deviceEmail, &s.Device.Email, a.Email)
		assign(said, deviceState, &s.Device.State, a.State)
		assign(said, deviceAt, &s.Device.At, a.At)
	}
	if a.Op == "patch" {
		for _, name := range a.Clear {
			s.without(said, name, keys.FieldCleared)
		}
		for _, name := range a.Remove {
			s.without(said, name, keys.FieldRemoved)
		}
	} else { // a full write says of every field of the writer that it is so or is gone
		for _, f := range part.Fields {
			if said[f] == keys.FieldUntouched {
				said[f] = keys.FieldRemoved
			}
		}
	}
	o := deviceOps(m)
	for i, x := range m.Indexes {
		parts := func(h querydb.Half) (list []keys.PatchedComposite) {
			for _, f := range h.Fields {
				v := o.Codec.Value(&s.Device, f)
				p := keys.PatchedComposite{}
				if f == deviceID || slices.Contains(part.Fields, f) {
					p.Change = said[f]
				}
				if p.Change == keys.FieldGiven {
					p.Value = v
				}
				if f == deviceID {
					p.KeyValue = v
				}
				list = append(list, p)
			}
			return list
		}
		judged := func(h querydb.Half) (o keys.HalfUpdate) {
			if !h.Layout.Exists() {
				return o
			}
			own, list := keys.IndexHalf{Layout: h.Layout, Policy: h.Policy}, parts(h)
			o, err := own.UpdateForPatch(list)
			if err != nil {
				panic(err)
			}
			if a.Op == "set" { // a full write is not cut short
				o = uncut(o, list)
			}
			return o
		}
		k := &s.Indexes[m.PhysicalIndex(i)]
		k.PK, k.HasPK = judged(x.PK).Apply(k.PK, k.HasPK)
		k.SK, k.HasSK = judged(x.SK).Apply(k.SK, k.HasSK)
	}
}

func uncut(o keys.HalfUpdate, parts []keys.PatchedComposite) keys.HalfUpdate {
	for _, p := range parts {
		if p.Change == keys.FieldRemoved {
			return keys.HalfUpdate{Op: keys.RemoveKey}
		}
	}
	return o
}

func (s *storedDevice) without(said map[int]keys.FieldChange, name string, m keys.FieldChange) {
	switch name {
	case "account":
		s.Device.Account, said[deviceAccount] = nil, m
	case "email":
		s.Device.Email, said[deviceEmail] = nil, m
	case "state":
		s.Device.State, said[deviceState] = nil, m
	case "at":
		s.Device.At, said[deviceAt] = nil, m
	}
}

func assign[V any](said map[int]keys.FieldChange, field int, to **V, v *V) {
	if v != nil {
		*to, said[field] = v, keys.FieldGiven
	}
}

func writtenProjections(m *querydb.Model) (*DeviceOps, []projection.Projection) {
	o := deviceOps(m)
	return o, []projection.Projection{deviceProjection("enrichment", o), deviceProjection("telemetry", o)}
}

// TestWritersOfOneRowGiveARowOfSomeSerialOrder has processes of both projections fold a log on a store that they share,
// while batches are left partial, answers lost, and processes end. No two fields or halves have two writers, so every
// serial order gives one row.
func TestWritersOfOneRowGiveARowOfSomeSerialOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawWritten(rt)
		m := writtenModel()
		o, folded := writtenProjections(m)
		sim := newSimulation(rapid.Uint64().Draw(rt, "seed"), logOf(t, events...), Ops, memstore.Options{MostWrites: 12})
		sim.models, sim.folded = []*querydb.Model{m}, folded
		sim.faults = rapid.IntRange(0, 12).Draw(rt, "faults")
		if err := sim.run(rapid.IntRange(2, 4).Draw(rt, "processes")); err != nil {
			rt.Fatal(err)
		}
		sim.faults = 0
		a, err := sim.process(folded[0])
		if err != nil {
			rt.Fatal(err)
		}
		compareDevices(rt, a.db, o, events)
	})
}

func compareDevices(t interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}, db *querydb.DB, o *DeviceOps, events []eventlog.Event) {
	t.Helper()
	got, err := devicesOf(db, o, deviceIDs...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(writtenOracle(o.Codec.Model, events), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-one after the other +got):\n%s", diff)
	}
}

// interrupted is a process on a plain store in whose commits another comes first, or that loses their answers.
type interrupted struct {
	driver.Driver
	before, after func() error
}

func (s *interrupted) Apply(ctx context.Context, b driver.Batch) error {
	if err := s.before(); err != nil {
		return err
	}
	if err := s.Driver.Apply(ctx, b); err != nil {
		return err
	}
	return s.after()
}

func (s *interrupted) Close() error { return nil }

// TestWritersOfOneRowGiveARowOfSomeSerialOrderOnAPlainStoreToo folds what one projection does between the other's
// reads and its commit, and loses answers and whole commits.
func TestWritersOfOneRowGiveARowOfSomeSerialOrderOnAPlainStoreToo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawWritten(rt)
		o, folded := writtenProjections(writtenModel())
		store := memstore.New()
		quiet := &interrupted{store, func() error { return nil }, func() error { return nil }}
		db, err := querydb.Open(ctx(), quiet, []*querydb.Model{o.Codec.Model}, querydb.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		faults := rapid.SliceOfN(rapid.IntRange(0, 5), 12, 12).Draw(rt, "faults")
		var inside bool
		half := rapid.IntRange(0, len(events)).Draw(rt, "half")
		log := 0 // events in it
		run := func(p projection.Projection, drv driver.Driver, n int) error {
			log = max(log, n)
			db, err := querydb.Open(ctx(), drv, []*querydb.Model{o.Codec.Model}, querydb.Config{})
			if err != nil {
				return err
			}
			cfg := quick()
			cfg.WindowEvents = 1 + n%5
			src := logOf(t, events[:n]...)
			r, err := projection.NewRunner(p, src, db, cfg)
			if err != nil {
				return err
			}
			return r.Run(ctx())
		}
		throw := func() int {
			if len(faults) == 0 {
				return 0
			}
			f := faults[0]
			faults = faults[1:]
			return f
		}
		loud := &interrupted{Driver: store}
		loud.before = func() error {
			switch f := throw(); {
			case f == 1:
				return driver.ErrThrottled
			case f == 2 && !inside:
				inside = true
				return run(folded[1], quiet, log)
			}
			return nil
		}
		loud.after = func() error {
			if throw() == 3 {
				return driver.ErrUnavailable
			}
			return nil
		}
		for _, leg := range []error{run(folded[0], loud, half), run(folded[0], loud, len(events)),
			run(folded[1], loud, len(events)), run(folded[0], quiet, len(events))} {
			if leg != nil && !errors.Is(leg, context.Canceled) {
				rt.Fatal(leg)
			}
		}
		compareDevices(rt, db, o, events)
	})
}
