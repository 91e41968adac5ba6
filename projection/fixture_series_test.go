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

// A time series, written by hand as the generator would write it: to a Device are appended its state and the moment at
// which it was so, in the entity that telemetry and enrichment write, or in a table that only telemetry writes.

// DeviceEvent is a row of the history of a Device.
type DeviceEvent struct {
	ID        string
	At        int
	State     *string
	Partition string
	Offset    int64
	Ends      *time.Time
}

// DeviceAppend is what is appended to a Device.
type DeviceAppend struct {
	At    int
	State *string
}

type seriesOps = projection.SeriesOps[Device, string, string, DeviceAppend, DeviceEvent]

// keep is how long the history keeps an event.
const keep = time.Hour

var deviceEventFields = []querydb.Field{
	{Name: "id", Scalar: "ID"},
	{Name: "at", Scalar: "Int"},
	{Name: "state", Scalar: "String", Nullable: true},
	{Name: "_partition", Scalar: "String"},
	{Name: "_offset", Scalar: "Int64"},
	{Name: "_ends", Scalar: "DateTime", Nullable: true},
}

// eventHalf is the sort half of a history, behind that of the row.
func eventHalf(head string) querydb.Half {
	return querydb.Half{
		Layout: keys.Layout{Head: head, Sep: "#", Casing: keys.CasingLower, Segments: []keys.Segment{
			{Field: "at", Kind: keys.KindInt, Before: "e#"}, {Field: "_partition", Kind: keys.KindString},
			{Field: "_offset", Kind: keys.KindInt},
		}},
		Fields: []int{1, 3, 4},
	}
}

// writtenSeries is an entity that two projections write, of which telemetry appends.
func writtenSeries() *seriesOps {
	m := writtenModel()
	history := &querydb.Model{
		Name: "DeviceEvent", Table: m.Table, Version: m.Version, Fields: deviceEventFields,
		PK: m.PK, SK: eventHalf(m.SK.Layout.Head), TTL: 5, CreatedAt: -1, UpdatedAt: -1,
		Entity:  &querydb.Entity{Table: m.Entity.Table, Kind: "deviceEvent"},
		Writers: []querydb.Writer{{Name: "telemetry", Part: driver.Part{Fields: []int{2, 5}, Expires: true}}},
	}
	return newSeries(m, history)
}

// ownSeries has tables of its own, which telemetry alone writes.
func ownSeries() *seriesOps {
	m := deviceModel()
	m.Table, m.PK, m.SK, m.Indexes, m.Entity = "Device", idHalf(), querydb.Half{}, nil, nil
	history := &querydb.Model{
		Name: "DeviceEvent", Table: "DeviceEvent", Version: "1", Fields: deviceEventFields,
		PK: idHalf(), SK: eventHalf(""), TTL: 5, CreatedAt: -1, UpdatedAt: -1,
	}
	return newSeries(m, history)
}

// sharedSeries has tables of its own, which two projections write, of which telemetry appends.
func sharedSeries() *seriesOps {
	o := ownSeries()
	o.Codec.Model.Writers = []querydb.Writer{
		{Name: "enrichment", Part: driver.Part{Fields: []int{deviceAccount, deviceEmail}}},
		{Name: "telemetry", Part: driver.Part{Fields: []int{deviceState, deviceAt}}},
	}
	o.History.Model.Writers = writtenSeries().History.Model.Writers
	return o
}

func newSeries(m, history *querydb.Model) *seriesOps {
	return &seriesOps{
		Ops: *deviceOps(m), History: deviceEventCodec(history), OrderBy: deviceAt, EventOrderBy: 1, Keep: keep,
		Assign: func(p *projection.Patch[Device], a DeviceAppend) {
			p.Set(deviceMoment.Assign(a.At))
			if a.State == nil {
				p.Clear(deviceTexts["state"])
			} else {
				p.Set(deviceTexts["state"].Assign(*a.State))
			}
		},
		Event:     func(id string, a DeviceAppend) DeviceEvent { return DeviceEvent{ID: id, At: a.At, State: a.State} },
		SetOrigin: func(e *DeviceEvent, partition string, offset int64) { e.Partition, e.Offset = partition, offset },
	}
}

func deviceEventCodec(m *querydb.Model) *querydb.Codec[DeviceEvent] {
	return &querydb.Codec[DeviceEvent]{
		Model: m,
		Encode: func(b *record.Builder, e *DeviceEvent) {
			b.String(e.ID)
			b.Int(e.At)
			optional(b, e.State, b.String)
			b.String(e.Partition)
			b.Int64(e.Offset)
			optional(b, e.Ends, b.DateTime)
		},
		Decode: func(rec record.Record, e *DeviceEvent) error {
			*e = DeviceEvent{}
			var ok [4]bool
			e.ID, ok[0] = record.String(rec.JSON(0))
			e.At, ok[1] = record.Int(rec.JSON(1))
			e.Partition, ok[2] = record.String(rec.JSON(3))
			e.Offset, ok[3] = record.Int64(rec.JSON(4))
			if ok != [4]bool{true, true, true, true} || !nullable(rec.JSON(2), &e.State, record.String) ||
				!nullable(rec.JSON(5), &e.Ends, record.DateTime) {
				return fmt.Errorf("no event of a device")
			}
			return nil
		},
		Value: func(e *DeviceEvent, field int) keys.Value {
			return [...]keys.Value{
				keys.String(e.ID), keys.Int(int64(e.At)), {}, keys.String(e.Partition), keys.Int(e.Offset), {},
			}[field]
		},
		Clone:   func(e *DeviceEvent) DeviceEvent { return *e },
		Time:    func(e *DeviceEvent, field int) time.Time { return endsOf(e, field) },
		SetTime: func(e *DeviceEvent, _ int, t time.Time) { e.Ends = &t },
	}
}

func endsOf(e *DeviceEvent, field int) time.Time {
	if field == 5 && e.Ends != nil {
		return *e.Ends
	}
	return time.Time{}
}

// seriesAct is an op on a device that an event asks for: append, wipe, or that of an Act.
type seriesAct struct {
	Act
	When int // of an append
}

func (a seriesAct) op(o *seriesOps) projection.Op {
	switch a.Op {
	case "append":
		return o.Append(a.ID, DeviceAppend{a.When, a.State})
	case "wipe":
		return o.DeletePartition(a.ID)
	}
	return a.Act.op(&o.Ops)
}

func seriesEvent(projection string, acts ...seriesAct) eventlog.Event {
	data, err := json.Marshal(acts)
	if err != nil {
		panic(err)
	}
	return eventlog.Event{Source: "/test", Type: projection, Data: data}
}

// seriesProjections are those of the series' writers. One writer takes the events of both.
func seriesProjections(o *seriesOps) []projection.Projection {
	project := func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
		var acts []seriesAct
		err = json.Unmarshal(e.Data, &acts)
		for _, a := range acts {
			ops = append(ops, a.op(o))
		}
		return ops, err
	}
	telemetry := projection.Projection{Name: "telemetry", Events: []string{"telemetry"}, Project: project}
	if len(o.Codec.Model.Writers) == 0 {
		telemetry.Events = []string{"telemetry", "enrichment"}
		return []projection.Projection{projection.NewSeries(o, telemetry)}
	}
	enrichment := projection.Projection{Name: "enrichment", Events: []string{"enrichment"}, Project: project}
	return []projection.Projection{projection.NewSeries(o, telemetry), projection.New(&o.Ops, enrichment)}
}
