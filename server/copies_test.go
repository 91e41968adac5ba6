package server

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Two models that are folded as a group, written by hand as the generator would: jobs hold copies of their owners,
// which follow. Nobody asks for them.

type (
	owner struct{ ID, Name string }
	job   struct {
		ID, OwnerID string
		Owner       *owner // a copy
		Note        string
	}
)

var fieldsOfOwner = []driver.Field{{Name: "ownerId", Scalar: "ID"}, {Name: "name", Scalar: "String"}}

func byFirstField(name string, fields ...driver.Field) *querydb.Model {
	return &querydb.Model{
		Name: name, Table: name, Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1, Fields: fields,
		PK: querydb.Half{Fields: []int{0}, Layout: keys.Layout{
			Sep: "/", Segments: []keys.Segment{{Field: fields[0].Name, Kind: keys.KindString}},
		}},
	}
}

// copyingProject is a project of tasks, owners, and jobs, whose notes have as many bytes as room leaves of a row.
func copyingProject(room int) App {
	app := newProject(false).App
	owners := byFirstField("Owner", fieldsOfOwner...)
	jobs := byFirstField("Job", driver.Field{Name: "jobId", Scalar: "ID"}, driver.Field{Name: "ownerId", Scalar: "ID"},
		driver.Field{Name: "owner", Object: fieldsOfOwner, Nullable: true}, driver.Field{Name: "note", Scalar: "String"})
	ownerOps, jobOps := ownerOpsOf(owners), jobOpsOf(jobs, owners)
	type change struct{ ID, Owner, Name string }
	projector := func(name, event string, op func(change) projection.Op) projection.Projection {
		app.Events[event] = &eventlog.Type{Name: event, Check: anyData, Tags: anyData}
		return projection.Projection{Name: name, Events: []string{event},
			Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
				var c change
				err := json.Unmarshal(e.Data, &c)
				return []projection.Op{op(c)}, err
			}}
	}
	app.Models = append(app.Models, owners, jobs)
	app.Projections = append(app.Projections,
		projection.New(ownerOps, projector("Owners", "OwnerNamed", func(c change) projection.Op {
			return ownerOps.Set(owner{c.ID, c.Name})
		})),
		projection.New(jobOps, projector("Jobs", "JobNoted", func(c change) projection.Op {
			row := job{ID: c.ID, OwnerID: c.Owner, Note: c.Name}
			if c.Name == "long" {
				row.Note = strings.Repeat("x", querydb.MaxRowSize-room)
			}
			return jobOps.Upsert(c.ID, row, func(r *job) { r.Note = row.Note })
		})))
	return app
}

func ownerOpsOf(m *querydb.Model) *projection.Ops[owner, string, string] {
	return &projection.Ops[owner, string, string]{
		Codec: &querydb.Codec[owner]{
			Model: m, Encode: encodeOwner, Decode: func(rec record.Record, r *owner) error {
				r.ID, _ = record.String(rec.JSON(0))
				r.Name, _ = record.String(rec.JSON(1))
				return nil
			},
			Value: func(r *owner, field int) keys.Value { return keys.String([]string{r.ID, r.Name}[field]) },
			Clone: func(r *owner) owner { return *r },
			Time:  func(*owner, int) time.Time { return time.Time{} }, SetTime: func(*owner, int, time.Time) {},
		},
		Key:          func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition:    func(id string) (string, error) { return id, nil },
		SetKeyFields: func(r *owner, id string) { r.ID = id },
	}
}

func encodeOwner(b *record.Builder, r *owner) { b.String(r.ID); b.String(r.Name) }

func jobOpsOf(m, owners *querydb.Model) *projection.Ops[job, string, string] {
	return &projection.Ops[job, string, string]{
		Codec: &querydb.Codec[job]{
			Model: m, Encode: encodeJob, Decode: decodeJob,
			Value: func(r *job, field int) keys.Value { return keys.String([]string{r.ID, r.OwnerID, "", r.Note}[field]) },
			Clone: func(r *job) job { return *r },
			Time:  func(*job, int) time.Time { return time.Time{} }, SetTime: func(*job, int, time.Time) {},
			References: querydb.ReferencesOf[job]{{
				Path: "owner", Field: 2, ID: 1, Source: owners, Cascade: true,
				Identifier: func(r *job, _ int) string { return r.OwnerID },
				Fill: func(r *job, _ int, source any) {
					r.Owner = nil
					if o, ok := source.(*owner); ok {
						r.Owner = &owner{o.ID, o.Name}
					}
				},
				Keep:   func(r *job, _ int, from *job, _ int) { r.Owner = from.Owner },
				Filled: func(r *job, _ int) bool { return r.Owner != nil },
			}},
		},
		Key:          func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition:    func(id string) (string, error) { return id, nil },
		SetKeyFields: func(r *job, id string) { r.ID = id },
	}
}

func encodeJob(b *record.Builder, r *job) {
	b.String(r.ID)
	b.String(r.OwnerID)
	if r.Owner == nil {
		b.Null()
	} else {
		b.BeginObject()
		encodeOwner(b, r.Owner)
		b.EndObject()
	}
	b.String(r.Note)
}

func decodeJob(rec record.Record, r *job) error {
	*r = job{}
	r.ID, _ = record.String(rec.JSON(0))
	r.OwnerID, _ = record.String(rec.JSON(1))
	r.Note, _ = record.String(rec.JSON(3))
	var fields [2][]byte
	if text := rec.JSON(2); text != nil && record.Object(text, fields[:]) {
		r.Owner = &owner{}
		r.Owner.ID, _ = record.String(fields[0])
		r.Owner.Name, _ = record.String(fields[1])
	}
	return nil
}
