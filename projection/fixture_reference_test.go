package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Two models, written by hand as the generator would write them: a Pick refers to a Club, and holds a copy of it.

// Club is a row that is copied.
type Club struct{ ID, Name string }

// ClubCopy is what a Pick holds of a Club.
type ClubCopy struct{ ID, Name string }

// Pick is a row that refers to a Club.
type Pick struct {
	ID     string
	ClubID string
	Club   *ClubCopy
	Note   string
}

func idHalf() querydb.Half {
	return querydb.Half{Layout: layout(keys.KindString, "id"), Fields: []int{0}}
}

var clubModel = &querydb.Model{
	Name: "Club", Table: "Club", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}},
}

var pickModel = &querydb.Model{
	Name: "Pick", Table: "Pick", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "clubId", Scalar: "ID", Nullable: true},
		{Name: "club", Nullable: true, Object: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}},
		{Name: "note", Scalar: "String"},
	},
}

var clubCodec = &querydb.Codec[Club]{
	Model:  clubModel,
	Encode: func(b *record.Builder, r *Club) { b.String(r.ID); b.String(r.Name) },
	Decode: func(rec record.Record, r *Club) error {
		r.ID, _ = record.String(rec.JSON(0))
		r.Name, _ = record.String(rec.JSON(1))
		return nil
	},
	Value:   func(r *Club, _ int) keys.Value { return keys.String(r.ID) },
	Clone:   func(r *Club) Club { return *r },
	Time:    func(*Club, int) time.Time { return time.Time{} },
	SetTime: func(*Club, int, time.Time) {},
}

var pickCodec = &querydb.Codec[Pick]{
	Model: pickModel,
	Encode: func(b *record.Builder, r *Pick) {
		b.String(r.ID)
		b.String(r.ClubID)
		if r.Club == nil {
			b.Null()
		} else {
			b.BeginObject()
			b.String(r.Club.ID)
			b.String(r.Club.Name)
			b.EndObject()
		}
		b.String(r.Note)
	},
	Decode: decodePick,
	Value: func(r *Pick, field int) keys.Value {
		return keys.String([...]string{r.ID, r.ClubID, "", r.Note}[field])
	},
	Clone: func(r *Pick) Pick {
		c := *r
		c.Club = pointer(r.Club)
		return c
	},
	Time:    func(*Pick, int) time.Time { return time.Time{} },
	SetTime: func(*Pick, int, time.Time) {},
	References: querydb.ReferencesOf[Pick]{{
		Path: "club", Field: 2, ID: 1, Source: clubModel,
		Identifier: func(r *Pick, _ int) string { return r.ClubID },
		Fill: func(r *Pick, _ int, source any) {
			r.Club = nil
			if c, ok := source.(*Club); ok {
				r.Club = &ClubCopy{c.ID, c.Name}
			}
		},
		Keep:   func(r *Pick, _ int, from *Pick, _ int) { r.Club = from.Club },
		Filled: func(r *Pick, _ int) bool { return r.Club != nil },
	}},
}

func decodePick(rec record.Record, r *Pick) error {
	*r = Pick{}
	r.ID, _ = record.String(rec.JSON(0))
	r.ClubID, _ = record.String(rec.JSON(1))
	r.Note, _ = record.String(rec.JSON(3))
	if text := rec.JSON(2); text != nil {
		var fields [2][]byte
		if !record.Object(text, fields[:]) {
			return fmt.Errorf("club is %s", text)
		}
		r.Club = &ClubCopy{}
		r.Club.ID, _ = record.String(fields[0])
		r.Club.Name, _ = record.String(fields[1])
	}
	return nil
}

var clubOps = &projection.Ops[Club, string, string]{
	Codec:        clubCodec,
	Key:          func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
	Partition:    func(id string) (string, error) { return id, nil },
	SetKeyFields: func(r *Club, id string) { r.ID = id },
}

// refMode is how copies behave; what is transactional also has a cascade.
type refMode struct{ cascade, nullIfMissing, transactional, onRequest bool }

func (m refMode) picks() *projection.Ops[Pick, string, string] {
	codec, refs := *pickCodec, slices.Clone(pickCodec.References.(querydb.ReferencesOf[Pick]))
	refs[0].Cascade, refs[0].NullIfMissing, refs[0].Transactional = m.cascade, m.nullIfMissing, m.transactional
	refs[0].OnRequest = m.onRequest
	codec.References = refs
	return &projection.Ops[Pick, string, string]{
		Codec:        &codec,
		Key:          func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition:    func(id string) (string, error) { return id, nil },
		SetKeyFields: func(r *Pick, id string) { r.ID = id },
	}
}

var pickFields = struct {
	ClubID, Note *projection.PatchField[Pick, string]
}{
	ClubID: &projection.PatchField[Pick, string]{Ordinal: 1, Write: func(r *Pick, v string) { r.ClubID = v }},
	Note:   &projection.PatchField[Pick, string]{Ordinal: 3, Write: func(r *Pick, v string) { r.Note = v }},
}

// ref is one op that an event asks for.
type ref struct {
	Op   string `json:"op"` // club, noclub, noclubs; set, update, upsert, patch, patchnote, note, delete, wipe
	ID   string `json:"id"`
	Club string `json:"club,omitempty"` // of a pick
	Text string `json:"text,omitempty"` // the name of a club, the note of a pick

	Cascade   *projection.Cascade `json:"cascade,omitempty"` // of a club
	NoCascade bool                `json:"noCascade,omitempty"`
}

// refEvent is an event of clubs and picks.
func refEvent(subject string, ops ...ref) eventlog.Event {
	b, err := json.Marshal(ops)
	if err != nil {
		panic(err)
	}
	typ := "Club"
	for _, o := range ops {
		if !slices.Contains([]string{"club", "rename", "noclub", "noclubs"}, o.Op) {
			typ = "Pick"
		}
	}
	return eventlog.Event{Source: "/test", Type: typ, Subject: subject, Data: b}
}

// refGroup is the projection of both models. Events of clubs alone are the clubs' projector's.
func refGroup(mode refMode) projection.Projection {
	all := projection.Group(refProjections(mode.picks()))
	if len(all) != 1 {
		panic("they refer to each other")
	}
	return all[0]
}

func refProjections(pickOps *projection.Ops[Pick, string, string]) []projection.Projection {
	project := func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
		var all []ref
		err = json.Unmarshal(e.Data, &all)
		for _, o := range all {
			ops = append(ops, o.op(pickOps))
		}
		return ops, err
	}
	return []projection.Projection{
		projection.New(pickOps, projection.Projection{Name: "picks", Events: []string{"Pick"}, Project: project}),
		projection.New(clubOps, projection.Projection{Name: "clubs", Events: []string{"Club"}, Project: project}),
	}
}

// seenCopies counts the copies that functions of projectors have seen.
var seenCopies int

func (o ref) op(pickOps *projection.Ops[Pick, string, string]) projection.Op {
	change := func(r *Pick) {
		if r.Club != nil {
			seenCopies++
		}
		r.ClubID, r.Note = o.Club, r.Note+o.Text
		r.Club = &ClubCopy{"made up", "by the projector"} // counts for nothing
	}
	switch o.Op {
	case "club":
		return o.cascading(clubOps.Set(Club{o.ID, o.Text}))
	case "rename":
		return o.cascading(clubOps.Update(o.ID, func(r *Club) { r.Name = o.Text }))
	case "noclub":
		return o.cascading(clubOps.Delete(o.ID))
	case "set":
		return pickOps.Set(Pick{ID: o.ID, ClubID: o.Club, Note: o.Text})
	case "update":
		return pickOps.Update(o.ID, change)
	case "upsert":
		return pickOps.Upsert(o.ID, Pick{}, change)
	case "patch":
		return pickOps.Patch(o.ID).Set(pickFields.ClubID.Assign(o.Club), pickFields.Note.Assign(o.Text))
	case "patchnote":
		return pickOps.Patch(o.ID).Set(pickFields.Note.Assign(o.Text))
	case "wipe":
		return pickOps.DeletePartition(o.ID)
	case "note":
		return pickOps.Update(o.ID, func(r *Pick) { r.Note += o.Text })
	}
	return pickOps.Delete(o.ID)
}

// cascading is the op of a club with the cascade that the event asks for.
func (o ref) cascading(op projection.RowOp) projection.Op {
	switch {
	case o.Cascade != nil:
		return op.Cascade(*o.Cascade)
	case o.NoCascade:
		return op.NoCascade()
	}
	return op
}
