package projection_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A time series whose rows refer to another model, written by hand as the generator would write it: a Probe reports its
// level, and stands in a Club.

// Probe is a row of the series.
type Probe struct {
	ID        string
	At, Level int
	ClubID    string // "" is null
	Club      *ClubCopy
}

// ProbeEvent is a row of the history of a Probe.
type ProbeEvent struct {
	ID        string
	At, Level int
	Partition string
	Offset    int64
}

// ProbeAppend is what is appended to a Probe.
type ProbeAppend struct{ At, Level int }

var probeModel = &querydb.Model{
	Name: "Probe", Table: "Probe", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "at", Scalar: "Int"}, {Name: "level", Scalar: "Int"},
		{Name: "clubId", Scalar: "ID", Nullable: true},
		{Name: "club", Nullable: true, Object: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}},
	},
}

var probeEventModel = &querydb.Model{
	Name: "ProbeEvent", Table: "ProbeEvent", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "at", Scalar: "Int"}, {Name: "level", Scalar: "Int"},
		{Name: "_partition", Scalar: "String"}, {Name: "_offset", Scalar: "Int64"},
	},
	PK: idHalf(), SK: eventHalf(""),
}

var probeCodec = &querydb.Codec[Probe]{
	Model: probeModel,
	Encode: func(b *record.Builder, r *Probe) {
		b.String(r.ID)
		b.Int(r.At)
		b.Int(r.Level)
		if r.ClubID == "" {
			b.Null()
		} else {
			b.String(r.ClubID)
		}
		if r.Club == nil {
			b.Null()
			return
		}
		b.BeginObject()
		b.String(r.Club.ID)
		b.String(r.Club.Name)
		b.EndObject()
	},
	Decode: func(rec record.Record, r *Probe) error {
		*r = Probe{}
		r.ID, _ = record.String(rec.JSON(0))
		r.At, _ = record.Int(rec.JSON(1))
		r.Level, _ = record.Int(rec.JSON(2))
		r.ClubID, _ = record.String(rec.JSON(3))
		if text := rec.JSON(4); text != nil {
			var fields [2][]byte
			if !record.Object(text, fields[:]) {
				return fmt.Errorf("club is %s", text)
			}
			r.Club = &ClubCopy{}
			r.Club.ID, _ = record.String(fields[0])
			r.Club.Name, _ = record.String(fields[1])
		}
		return nil
	},
	Value: func(r *Probe, field int) keys.Value {
		return [...]keys.Value{
			keys.String(r.ID), keys.Int(int64(r.At)), keys.Int(int64(r.Level)), keys.String(r.ClubID), {},
		}[field]
	},
	Clone: func(r *Probe) Probe {
		c := *r
		c.Club = pointer(r.Club)
		return c
	},
	References: querydb.ReferencesOf[Probe]{{
		Path: "club", Field: 4, ID: 3, Source: clubModel, Cascade: true,
		Identifier: func(r *Probe, _ int) string { return r.ClubID },
		Fill: func(r *Probe, _ int, source any) {
			r.Club = nil
			if c, ok := source.(*Club); ok {
				r.Club = &ClubCopy{c.ID, c.Name}
			}
		},
		Keep:   func(r *Probe, _ int, from *Probe, _ int) { r.Club = from.Club },
		Filled: func(r *Probe, _ int) bool { return r.Club != nil },
	}},
}

var probeEventCodec = &querydb.Codec[ProbeEvent]{
	Model: probeEventModel,
	Encode: func(b *record.Builder, e *ProbeEvent) {
		b.String(e.ID)
		b.Int(e.At)
		b.Int(e.Level)
		b.String(e.Partition)
		b.Int64(e.Offset)
	},
	Decode: func(rec record.Record, e *ProbeEvent) error {
		e.ID, _ = record.String(rec.JSON(0))
		e.At, _ = record.Int(rec.JSON(1))
		e.Level, _ = record.Int(rec.JSON(2))
		e.Partition, _ = record.String(rec.JSON(3))
		e.Offset, _ = record.Int64(rec.JSON(4))
		return nil
	},
	Value: func(e *ProbeEvent, field int) keys.Value {
		return [...]keys.Value{
			keys.String(e.ID), keys.Int(int64(e.At)), {}, keys.String(e.Partition), keys.Int(e.Offset),
		}[field]
	},
	Clone:   func(e *ProbeEvent) ProbeEvent { return *e },
	Time:    func(*ProbeEvent, int) time.Time { return time.Time{} },
	SetTime: func(*ProbeEvent, int, time.Time) {},
}

var probeOps = &projection.SeriesOps[Probe, string, string, ProbeAppend, ProbeEvent]{
	Ops: projection.Ops[Probe, string, string]{
		Codec:        probeCodec,
		Key:          func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition:    func(id string) (string, error) { return id, nil },
		SetKeyFields: func(r *Probe, id string) { r.ID = id },
	},
	History: probeEventCodec, OrderBy: 1, EventOrderBy: 1,
	Assign: func(p *projection.Patch[Probe], a ProbeAppend) {
		p.Set(probeFields.At.Assign(a.At), probeFields.Level.Assign(a.Level))
	},
	Event:     func(id string, a ProbeAppend) ProbeEvent { return ProbeEvent{ID: id, At: a.At, Level: a.Level} },
	SetOrigin: func(e *ProbeEvent, partition string, offset int64) { e.Partition, e.Offset = partition, offset },
}

var probeFields = struct {
	At, Level *projection.PatchField[Probe, int]
	ClubID    *projection.PatchField[Probe, string]
}{
	At:     &projection.PatchField[Probe, int]{Ordinal: 1, Write: func(r *Probe, v int) { r.At = v }},
	Level:  &projection.PatchField[Probe, int]{Ordinal: 2, Write: func(r *Probe, v int) { r.Level = v }},
	ClubID: &projection.PatchField[Probe, string]{Ordinal: 3, Write: func(r *Probe, v string) { r.ClubID = v }},
}

// probeProjections fold clubs, as events of the type Club are, and probes: where one stands, and what it reports.
func probeProjections() []projection.Projection {
	clubs := refProjections(refMode{}.picks())[1]
	return []projection.Projection{clubs, projection.NewSeries(probeOps, projection.Projection{
		Name: "probes", Events: []string{"Placed", "Read"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			var p Probe
			if err := json.Unmarshal(e.Data, &p); err != nil {
				return nil, err
			}
			if e.Type == "Placed" {
				return []projection.Op{probeOps.Patch(p.ID).Set(probeFields.ClubID.Assign(p.ClubID))}, nil
			}
			return []projection.Op{probeOps.Append(p.ID, ProbeAppend{p.At, p.Level})}, nil
		},
	})}
}
