package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Device is a row of an entity that shares its table: its index keys are under a policy, its own key is in lower case.
type Device struct {
	ID, Account, State, Email *string // ID is never nil
	At                        *int
}

const (
	deviceID = iota
	deviceAccount
	deviceState
	deviceEmail
	deviceAt
	deviceFields
)

// entityHalf is a half of the form of entities.
func entityHalf(policy keys.Policy, fields ...int) querydb.Half {
	names := [...]string{"id", "account", "state", "email", "at"}
	l := keys.Layout{Head: "$t#v1#device", Sep: "#", Casing: keys.CasingLower}
	for _, f := range fields {
		kind := keys.KindString
		if f == deviceAt {
			kind = keys.KindInt
		}
		l.Segments = append(l.Segments, keys.Segment{Field: names[f], Kind: kind, Before: names[f] + "_"})
	}
	return querydb.Half{Layout: l, Fields: fields, Policy: policy}
}

// The slots of the table's indexes, in another order than the model's.
const (
	slotByID = iota
	slotByEmail
	slotByAlert
)

func deviceModel() *querydb.Model {
	shared := &querydb.SharedTable{Name: "Fleet", Indexes: []querydb.SharedIndex{
		{Name: "gsi1", AlwaysSorted: true}, {Name: "gsi2", AlwaysSorted: true}, {Name: "gsi3", AlwaysSorted: true},
	}}
	return &querydb.Model{
		Name: "Device", Table: "Fleet", Version: "1",
		Fields: []querydb.Field{
			{Name: "id", Scalar: "ID"},
			{Name: "account", Scalar: "String", Nullable: true},
			{Name: "state", Scalar: "String", Nullable: true},
			{Name: "email", Scalar: "String", Nullable: true},
			{Name: "at", Scalar: "Int", Nullable: true},
		},
		PK: entityHalf(0, deviceID), SK: entityHalf(0),
		Indexes: []querydb.Index{
			{Name: "byAlert", PK: entityHalf(keys.PolicyPreserve, deviceAccount), SK: entityHalf(keys.PolicySparse,
				deviceState, deviceAt)},
			{Name: "byID", PK: entityHalf(0, deviceID), SK: entityHalf(0)},
			{Name: "byEmail", PK: entityHalf(0, deviceEmail), SK: entityHalf(0)},
		},
		TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Entity: &querydb.Entity{Table: shared, Kind: "device", PhysicalIndexes: []int{slotByAlert, slotByID, slotByEmail}},
	}
}

// written is a device model that two projections write.
func writtenModel() *querydb.Model {
	m := deviceModel()
	m.Writers = []querydb.Writer{
		{Name: "enrichment", Part: driver.Part{Fields: []int{deviceAccount, deviceEmail},
			PK: []int{slotByID, slotByEmail, slotByAlert}, SK: []int{slotByID, slotByEmail}}},
		{Name: "telemetry", Part: driver.Part{Fields: []int{deviceState, deviceAt},
			PK: []int{slotByID}, SK: []int{slotByID, slotByEmail, slotByAlert}}},
	}
	return m
}

// DeviceOps makes the ops of a model of Devices.
type DeviceOps = projection.Ops[Device, string, string]

func deviceOps(m *querydb.Model) *DeviceOps {
	c := &querydb.Codec[Device]{
		Model: m,
		Encode: func(b *record.Builder, d *Device) {
			for _, s := range []*string{d.ID, d.Account, d.State, d.Email} {
				optional(b, s, b.String)
			}
			optional(b, d.At, b.Int)
		},
		Decode: func(rec record.Record, d *Device) error {
			*d = Device{}
			ok := rec.Len() == deviceFields && nullable(rec.JSON(deviceAt), &d.At, record.Int)
			for i, s := range []**string{&d.ID, &d.Account, &d.State, &d.Email} {
				ok = ok && nullable(rec.JSON(i), s, record.String)
			}
			if !ok || d.ID == nil {
				return fmt.Errorf("no device")
			}
			return nil
		},
		Value: func(d *Device, field int) keys.Value {
			s := [...]*string{d.ID, d.Account, d.State, d.Email, nil}[field]
			switch {
			case s != nil:
				return keys.String(*s)
			case field == deviceAt && d.At != nil:
				return keys.Int(int64(*d.At))
			}
			return keys.Value{}
		},
		Clone: func(d *Device) Device { return *d }, // what the pointers are to is never changed
	}
	fill := func(d *Device, id string) { d.ID = &id }
	return &DeviceOps{
		Codec: c, SetKeyFields: fill,
		Key:       func(id string) (keys.Key, error) { return querydb.KeyOf(c, &Device{ID: &id}) },
		Partition: func(id string) (string, error) { return m.PK.Layout.Compose(keys.String(id)) },
	}
}

func textField(ordinal int, of func(*Device) **string) *projection.PatchField[Device, string] {
	return &projection.PatchField[Device, string]{
		Ordinal: ordinal,
		Write:   func(d *Device, v string) { *of(d) = &v },
		Reset:   func(d *Device) { *of(d) = nil },
	}
}

var deviceTexts = map[string]*projection.PatchField[Device, string]{
	"account": textField(deviceAccount, func(d *Device) **string { return &d.Account }),
	"state":   textField(deviceState, func(d *Device) **string { return &d.State }),
	"email":   textField(deviceEmail, func(d *Device) **string { return &d.Email }),
}

var deviceMoment = &projection.PatchField[Device, int]{
	Ordinal: deviceAt,
	Write:   func(d *Device, v int) { d.At = &v },
	Reset:   func(d *Device) { d.At = nil },
}

// Act is an op on a device that an event asks for.
type Act struct {
	Op, ID                string // set create update delete patch
	Account, State, Email *string
	At                    *int
	Clear, Remove         []string
}

func (a Act) device() Device {
	return Device{ID: &a.ID, Account: a.Account, State: a.State, Email: a.Email, At: a.At}
}

func (a Act) op(o *DeviceOps) projection.Op {
	switch a.Op {
	case "set":
		return o.Set(a.device())
	case "create":
		return o.Create(a.device())
	case "update":
		return o.Update(a.ID, func(d *Device) { d.Account, d.State, d.Email, d.At = a.Account, a.State, a.Email, a.At })
	case "delete":
		return o.Delete(a.ID)
	}
	p := o.Patch(a.ID)
	for name, v := range map[string]*string{"account": a.Account, "state": a.State, "email": a.Email} {
		if v != nil {
			p.Set(deviceTexts[name].Assign(*v))
		}
	}
	if a.At != nil {
		p.Set(deviceMoment.Assign(*a.At))
	}
	ref := func(name string) projection.FieldRef[Device] {
		if name == "at" {
			return deviceMoment
		}
		return deviceTexts[name]
	}
	for _, name := range a.Clear {
		p.Clear(ref(name))
	}
	for _, name := range a.Remove {
		p.Remove(ref(name))
	}
	return p
}

// deviceProjection takes events whose type is its name.
func deviceProjection(name string, o *DeviceOps) projection.Projection {
	return projection.New(o, projection.Projection{
		Name: name, Events: []string{name},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			var acts []Act
			if err := json.Unmarshal(e.Data, &acts); err != nil {
				return nil, err
			}
			var ops []projection.Op
			for _, a := range acts {
				ops = append(ops, a.op(o))
			}
			return ops, nil
		},
	})
}

func deviceEvent(projection, subject string, acts ...Act) eventlog.Event {
	data, err := json.Marshal(acts)
	if err != nil {
		panic(err)
	}
	return eventlog.Event{Source: "/test", Type: projection, Subject: subject, Data: data}
}

// storedDevice is a device with its index keys, as text.
type storedDevice struct {
	Device  Device
	Indexes []querydb.IndexKey
	Writers []string
}

func devicesOf(db *querydb.DB, o *DeviceOps, ids ...string) (map[string]storedDevice, error) {
	var ks []keys.Key
	for _, id := range ids {
		k, err := o.Key(id)
		if err != nil {
			return nil, err
		}
		ks = append(ks, k)
	}
	rows, err := db.ForFold(writerName(o)).Get(ctx(), o.Codec.Model, ks, true)
	got := map[string]storedDevice{}
	for i, row := range rows {
		if row.Record == nil {
			continue
		}
		s := storedDevice{Indexes: row.Indexes, Writers: slices.Clone(row.Writers)}
		if err := o.Codec.Decode(row.Record, &s.Device); err != nil {
			return nil, err
		}
		got[ids[i]] = s
	}
	return got, err
}

// writerName is a name under which rows of the model can be read.
func writerName(o *DeviceOps) string {
	if w := o.Codec.Model.Writers; len(w) > 0 {
		return w[0].Name
	}
	return ""
}
