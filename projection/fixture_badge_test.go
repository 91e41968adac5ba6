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

// Three models, written by hand as the generator would write them: two projections write a Badge, one of which says to
// which Club it refers; and a Wearer refers to a Badge.

// Badge is a row with two writers that holds a copy of a Club.
type Badge struct {
	ID           string
	ClubID, Name *string
	Club         *ClubCopy
}

// BadgeCopy is what a Wearer holds of a Badge.
type BadgeCopy struct{ ID, ClubID, Name *string }

// Wearer is a row that refers to a Badge.
type Wearer struct {
	ID      string
	BadgeID *string
	Badge   *BadgeCopy
}

var badgeModel = &querydb.Model{
	Name: "Badge", Table: "Badge", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "clubId", Scalar: "ID", Nullable: true},
		{Name: "club", Nullable: true, Object: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}},
		{Name: "name", Scalar: "String", Nullable: true},
	},
	Indexes: []querydb.Index{{
		Name: "byClub", PK: querydb.Half{Layout: layout(keys.KindString, "clubId"), Fields: []int{1}},
		SK: querydb.Half{Layout: layout(keys.KindString, "name"), Fields: []int{3}},
	}},
	Writers: []querydb.Writer{
		{Name: "membership", Part: driver.Part{Fields: []int{1}, PK: []int{0}}},
		{Name: "naming", Part: driver.Part{Fields: []int{3}, SK: []int{0}}},
	},
}

var wearerModel = &querydb.Model{
	Name: "Wearer", Table: "Wearer", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"}, {Name: "badgeId", Scalar: "ID", Nullable: true},
		{Name: "badge", Nullable: true, Object: []driver.Field{
			{Name: "id", Scalar: "ID"}, {Name: "clubId", Scalar: "ID", Nullable: true},
			{Name: "name", Scalar: "String", Nullable: true},
		}},
	},
}

var badgeCodec = &querydb.Codec[Badge]{
	Model: badgeModel,
	Encode: func(b *record.Builder, r *Badge) {
		b.String(r.ID)
		optional(b, r.ClubID, b.String)
		if r.Club == nil {
			b.Null()
		} else {
			b.BeginObject()
			b.String(r.Club.ID)
			b.String(r.Club.Name)
			b.EndObject()
		}
		optional(b, r.Name, b.String)
	},
	Decode: decodeBadge,
	Value: func(r *Badge, field int) keys.Value {
		s := [...]*string{&r.ID, r.ClubID, nil, r.Name}[field]
		if s == nil {
			return keys.Value{}
		}
		return keys.String(*s)
	},
	Clone: func(r *Badge) Badge {
		c := *r
		c.Club = pointer(r.Club)
		return c
	},
	Time:    func(*Badge, int) time.Time { return time.Time{} },
	SetTime: func(*Badge, int, time.Time) {},
	References: querydb.ReferencesOf[Badge]{{
		Path: "club", Field: 2, ID: 1, Source: clubModel, Cascade: true, NullIfMissing: true,
		Identifier: func(r *Badge, _ int) string { return orEmpty(r.ClubID) },
		Fill: func(r *Badge, _ int, source any) {
			r.Club = nil
			if c, ok := source.(*Club); ok {
				r.Club = &ClubCopy{c.ID, c.Name}
			}
		},
		Keep:   func(r *Badge, _ int, from *Badge, _ int) { r.Club = from.Club },
		Filled: func(r *Badge, _ int) bool { return r.Club != nil },
	}},
}

func decodeBadge(rec record.Record, r *Badge) error {
	*r = Badge{}
	r.ID, _ = record.String(rec.JSON(0))
	if !nullable(rec.JSON(1), &r.ClubID, record.String) || !nullable(rec.JSON(3), &r.Name, record.String) {
		return fmt.Errorf("no badge")
	}
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

var wearerCodec = &querydb.Codec[Wearer]{
	Model: wearerModel,
	Encode: func(b *record.Builder, r *Wearer) {
		b.String(r.ID)
		optional(b, r.BadgeID, b.String)
		if r.Badge == nil {
			b.Null()
			return
		}
		b.BeginObject()
		optional(b, r.Badge.ID, b.String)
		optional(b, r.Badge.ClubID, b.String)
		optional(b, r.Badge.Name, b.String)
		b.EndObject()
	},
	Decode: func(rec record.Record, r *Wearer) error {
		*r = Wearer{}
		r.ID, _ = record.String(rec.JSON(0))
		ok := nullable(rec.JSON(1), &r.BadgeID, record.String)
		if text := rec.JSON(2); text != nil {
			var fields [3][]byte
			ok = ok && record.Object(text, fields[:])
			r.Badge = &BadgeCopy{}
			for i, to := range []**string{&r.Badge.ID, &r.Badge.ClubID, &r.Badge.Name} {
				ok = ok && nullable(fields[i], to, record.String)
			}
		}
		if !ok {
			return fmt.Errorf("no wearer")
		}
		return nil
	},
	Value: func(r *Wearer, field int) keys.Value { return keys.String(r.ID) },
	Clone: func(r *Wearer) Wearer {
		c := *r
		c.Badge = pointer(r.Badge)
		return c
	},
	Time:    func(*Wearer, int) time.Time { return time.Time{} },
	SetTime: func(*Wearer, int, time.Time) {},
	References: querydb.ReferencesOf[Wearer]{{
		Path: "badge", Field: 2, ID: 1, Source: badgeModel, Cascade: true, NullIfMissing: true,
		Identifier: func(r *Wearer, _ int) string { return orEmpty(r.BadgeID) },
		Fill: func(r *Wearer, _ int, source any) {
			r.Badge = nil
			if b, ok := source.(*Badge); ok {
				r.Badge = &BadgeCopy{&b.ID, b.ClubID, b.Name}
			}
		},
		Keep:   func(r *Wearer, _ int, from *Wearer, _ int) { r.Badge = from.Badge },
		Filled: func(r *Wearer, _ int) bool { return r.Badge != nil },
	}},
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func opsByID[R any](codec *querydb.Codec[R], fill func(*R, string)) *projection.Ops[R, string, string] {
	return &projection.Ops[R, string, string]{
		Codec: codec, SetKeyFields: fill,
		Key:       func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition: func(id string) (string, error) { return id, nil },
	}
}

var (
	badgeOps  = opsByID(badgeCodec, func(r *Badge, id string) { r.ID = id })
	wearerOps = opsByID(wearerCodec, func(r *Wearer, id string) { r.ID = id })
)

var badgeFields = struct {
	ClubID, Name *projection.PatchField[Badge, string]
}{
	&projection.PatchField[Badge, string]{
		Ordinal: 1, Write: func(r *Badge, v string) { r.ClubID = &v }, Reset: func(r *Badge) { r.ClubID = nil },
	},
	&projection.PatchField[Badge, string]{
		Ordinal: 3, Write: func(r *Badge, v string) { r.Name = &v }, Reset: func(r *Badge) { r.Name = nil },
	},
}

// badgeAct is one op that an event asks for. Its value is that of the field which the event's projector writes.
type badgeAct struct {
	Op, ID string
	Value  *string
}

// badgeEvent is an event of the projector, or of "both" that write badges.
func badgeEvent(projector string, acts ...badgeAct) eventlog.Event {
	b, err := json.Marshal(acts)
	if err != nil {
		panic(err)
	}
	return eventlog.Event{Source: "/test", Type: projector, Data: b}
}

func (a badgeAct) club() projection.Op {
	if a.Op == "delete" || a.Op == "partition" {
		return clubOps.Delete(a.ID)
	}
	return clubOps.Set(Club{a.ID, orEmpty(a.Value)})
}

func (a badgeAct) wearer() projection.Op {
	if a.Op == "delete" || a.Op == "partition" {
		return wearerOps.Delete(a.ID)
	}
	return wearerOps.Set(Wearer{ID: a.ID, BadgeID: a.Value})
}

// badge is the op of a projector that writes one field, and does not see the other.
func (a badgeAct) badge(field *projection.PatchField[Badge, string], own, foreign func(*Badge) **string) projection.Op {
	row := Badge{ID: a.ID}
	*own(&row) = a.Value
	switch a.Op {
	case "set":
		return badgeOps.Set(row)
	case "create":
		return badgeOps.Create(row)
	case "upsert":
		return badgeOps.Upsert(a.ID, row, func(r *Badge) {
			if *foreign(r) != nil || r.Club != nil {
				panic("a projector sees what it does not write")
			}
			*own(r) = a.Value
		})
	case "delete":
		return badgeOps.Delete(a.ID)
	case "partition":
		return badgeOps.DeletePartition(a.ID)
	}
	if a.Value == nil {
		return badgeOps.Patch(a.ID).Clear(field)
	}
	return badgeOps.Patch(a.ID).Set(field.Assign(*a.Value))
}

func clubOf(r *Badge) **string { return &r.ClubID }
func nameOf(r *Badge) **string { return &r.Name }

// badgeProjections are those of all three models.
func badgeProjections() []projection.Projection {
	project := func(op func(badgeAct) projection.Op) func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
		return func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
			var acts []badgeAct
			err = json.Unmarshal(e.Data, &acts)
			for _, a := range acts {
				ops = append(ops, op(a))
			}
			return ops, err
		}
	}
	return []projection.Projection{
		projection.New(clubOps, projection.Projection{
			Name: "clubs", Events: []string{"clubs"}, Project: project(badgeAct.club)}),
		projection.New(badgeOps, projection.Projection{
			Name: "membership", Events: []string{"membership", "both"},
			Project: project(func(a badgeAct) projection.Op { return a.badge(badgeFields.ClubID, clubOf, nameOf) }),
		}),
		projection.New(wearerOps, projection.Projection{
			Name: "wearers", Events: []string{"wearers"}, Project: project(badgeAct.wearer)}),
		projection.New(badgeOps, projection.Projection{
			Name: "naming", Events: []string{"naming", "both"},
			Project: project(func(a badgeAct) projection.Op { return a.badge(badgeFields.Name, nameOf, clubOf) }),
		}),
	}
}

// badgeOracle does what events say, one after the other, and has all copies equal what they are of in the end.
type badgeOracle struct {
	Clubs   map[string]Club
	Badges  map[string]Badge
	Writers map[string][]string // of badges
	Wearers map[string]Wearer
}

func foldBadges(events []eventlog.Event) *badgeOracle {
	o := &badgeOracle{map[string]Club{}, map[string]Badge{}, map[string][]string{}, map[string]Wearer{}}
	for _, e := range events {
		var acts []badgeAct
		if err := json.Unmarshal(e.Data, &acts); err != nil {
			panic(err)
		}
		takers := []string{e.Type}
		if e.Type == "both" {
			takers = []string{"membership", "naming"}
		}
		for _, projector := range takers {
			for _, a := range acts {
				o.take(projector, a)
			}
		}
	}
	for id, b := range o.Badges {
		if c, there := o.Clubs[orEmpty(b.ClubID)]; there {
			b.Club = &ClubCopy{c.ID, c.Name}
			o.Badges[id] = b
		}
	}
	for id, w := range o.Wearers {
		if b, there := o.Badges[orEmpty(w.BadgeID)]; there {
			w.Badge = &BadgeCopy{&b.ID, b.ClubID, b.Name}
			o.Wearers[id] = w
		}
	}
	return o
}

func (o *badgeOracle) take(projector string, a badgeAct) {
	gone := a.Op == "delete" || a.Op == "partition"
	switch projector {
	case "clubs":
		if delete(o.Clubs, a.ID); !gone {
			o.Clubs[a.ID] = Club{a.ID, orEmpty(a.Value)}
		}
		return
	case "wearers":
		if delete(o.Wearers, a.ID); !gone {
			o.Wearers[a.ID] = Wearer{ID: a.ID, BadgeID: a.Value}
		}
		return
	}
	b, by := o.Badges[a.ID], o.Writers[a.ID]
	b.ID = a.ID
	has := slices.Contains(by, projector)
	if a.Op == "create" && has {
		return
	}
	by = slices.DeleteFunc(slices.Clone(by), func(w string) bool { return w == projector })
	if gone {
		a.Value = nil
	} else {
		by = append(by, projector)
	}
	if slices.Sort(by); projector == "naming" {
		b.Name = a.Value
	} else {
		b.ClubID = a.Value
	}
	if o.Badges[a.ID], o.Writers[a.ID] = b, by; len(by) == 0 {
		delete(o.Badges, a.ID)
		delete(o.Writers, a.ID)
	}
}
