package projection_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Two models, written by hand as the generator would write them: two projections write a Pass, one of which says when
// it ends; and a Wearer refers to a Pass in place of a Badge.

// Pass is a row with two writers that expires.
type Pass struct {
	ID   string
	Zone *string
	Ends time.Time
}

var passModel = &querydb.Model{
	Name: "Pass", Table: "Pass", Version: "1", PK: idHalf(), TTL: 2, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "zone", Scalar: "String", Nullable: true},
		{Name: "ends", Scalar: "DateTime", Nullable: true},
	},
	Writers: []querydb.Writer{
		{Name: "zoning", Part: driver.Part{Fields: []int{1}}},
		{Name: "ending", Part: driver.Part{Fields: []int{2}, Expires: true}},
	},
}

var passCodec = &querydb.Codec[Pass]{
	Model: passModel,
	Encode: func(b *record.Builder, r *Pass) {
		b.String(r.ID)
		optional(b, r.Zone, b.String)
		if r.Ends.IsZero() {
			b.Null()
		} else {
			b.DateTime(r.Ends)
		}
	},
	Decode: func(rec record.Record, r *Pass) error {
		*r = Pass{}
		r.ID, _ = record.String(rec.JSON(0))
		nullable(rec.JSON(1), &r.Zone, record.String)
		r.Ends, _ = record.DateTime(rec.JSON(2))
		return nil
	},
	Value:   func(r *Pass, _ int) keys.Value { return keys.String(r.ID) },
	Clone:   func(r *Pass) Pass { return *r },
	Time:    func(r *Pass, _ int) time.Time { return r.Ends },
	SetTime: func(r *Pass, _ int, ends time.Time) { r.Ends = ends },
}

// passWearerCodec is that of wearers of a pass, whose copies of it are of the mode.
func passWearerCodec(mode refMode) *querydb.Codec[Wearer] {
	codec, model := *wearerCodec, *wearerModel
	refs := slices.Clone(codec.References.(querydb.ReferencesOf[Wearer]))
	refs[0].Source, refs[0].Cascade, refs[0].Transactional = passModel, mode.cascade, mode.transactional
	refs[0].NullIfMissing, refs[0].OnRequest = mode.nullIfMissing, mode.onRequest
	refs[0].Fill = func(r *Wearer, _ int, source any) {
		r.Badge = nil
		if p, ok := source.(*Pass); ok {
			r.Badge = &BadgeCopy{ID: &p.ID, Name: p.Zone}
		}
	}
	codec.Model, codec.References = &model, refs
	return &codec
}

var passOps = opsByID(passCodec, func(r *Pass, id string) { r.ID = id })

// passStep is what one projector does to the pass x, or what gives it to the wearer w.
type passStep struct {
	By, Op string
	Ends   int // second
}

func (s passStep) op(wearers *projection.Ops[Wearer, string, string]) projection.Op {
	switch s.Op {
	case "delete":
		return passOps.Delete("x")
	case "partition":
		return passOps.DeletePartition("x")
	case "wear":
		return wearers.Set(Wearer{ID: "w", BadgeID: ptr("x")})
	}
	if s.By == "zoning" {
		return passOps.Set(Pass{ID: "x", Zone: ptr("z")})
	}
	return passOps.Set(Pass{ID: "x", Ends: after(s.Ends)})
}

func passEvent(t *testing.T, second int, steps ...passStep) eventlog.Event {
	t.Helper()
	data, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{Source: "/test", Type: "Pass", Time: after(second), Data: data}
}

func passGroup(wearers *querydb.Codec[Wearer]) projection.Projection {
	wearerOps := opsByID(wearers, func(r *Wearer, id string) { r.ID = id })
	by := func(name string) projection.Projection {
		return projection.Projection{
			Name: name, Events: []string{"Pass"},
			Project: func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
				var steps []passStep
				err = json.Unmarshal(e.Data, &steps)
				for _, s := range steps {
					if s.By == name {
						ops = append(ops, s.op(wearerOps))
					}
				}
				return ops, err
			},
		}
	}
	return projection.Group([]projection.Projection{
		projection.New(passOps, by("zoning")), projection.New(passOps, by("ending")),
		projection.New(wearerOps, by("wearers")),
	})[0]
}
