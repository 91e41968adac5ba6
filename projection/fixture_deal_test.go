package projection_test

import (
	"errors"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A model with all that a row may have beside copies, written by hand as the generator would write it: a Deal refers to
// two Clubs and to a Deal.

// Deal is a row with three copies. The zero values of its times and of identifiers are null.
type Deal struct {
	ID, Note      string
	ClubID        string
	Club          *ClubCopy
	Made, Changed time.Time
	HostID        string
	Host          *ClubCopy
	Code          string
	Ends          time.Time
	FormerID      string
	Former        *DealCopy
	Season        string
}

// DealCopy is what a Deal holds of another.
type DealCopy struct{ ID, Note, ClubID string }

const (
	dealID = iota
	dealNote
	dealClubID
	dealClub
	dealMade
	dealChanged
	dealHostID
	dealHost
	dealCode
	dealEnds
	dealFormerID
	dealFormer
	dealSeason
	dealFields
)

// dealForm is what the model of deals is like.
type dealForm struct {
	expires, unique    bool
	club, host, former refMode
}

func (f *dealForm) model() *querydb.Model {
	copied := []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}
	deal := []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "note", Scalar: "String"},
		{Name: "clubId", Scalar: "ID", Nullable: true}}
	m := &querydb.Model{
		Name: "Deal", Table: "Deal", Version: "1", PK: idHalf(), TTL: -1, CreatedAt: dealMade, UpdatedAt: dealChanged,
		Fields: []querydb.Field{
			{Name: "id", Scalar: "ID"}, {Name: "note", Scalar: "String"},
			{Name: "clubId", Scalar: "ID", Nullable: true}, {Name: "club", Nullable: true, Object: copied},
			{Name: "made", Scalar: "DateTime"}, {Name: "changed", Scalar: "DateTime"},
			{Name: "hostId", Scalar: "ID", Nullable: true}, {Name: "host", Nullable: true, Object: copied},
			{Name: "code", Scalar: "String", Nullable: true}, {Name: "ends", Scalar: "DateTime", Nullable: true},
			{Name: "formerId", Scalar: "ID", Nullable: true}, {Name: "former", Nullable: true, Object: deal},
			{Name: "season", Scalar: "String"},
		},
		Indexes: []querydb.Index{
			{Name: "byCode", Unique: f.unique, Projected: []int{dealID, dealClub, dealCode},
				PK: querydb.Half{Layout: layout(keys.KindString, "code"), Fields: []int{dealCode}}},
			{Name: "bySeason", PK: querydb.Half{Layout: layout(keys.KindString, "season"), Fields: []int{dealSeason}},
				SK: querydb.Half{Layout: layout(keys.KindString, "clubId"), Fields: []int{dealClubID}}},
		},
	}
	if f.expires {
		m.TTL = dealEnds
	}
	return m
}

func encodeDeal(b *record.Builder, r *Deal) {
	text := func(s string) {
		if s == "" {
			b.Null()
		} else {
			b.String(s)
		}
	}
	club := func(c *ClubCopy) {
		if c == nil {
			b.Null()
			return
		}
		b.BeginObject()
		b.String(c.ID)
		b.String(c.Name)
		b.EndObject()
	}
	b.String(r.ID)
	b.String(r.Note)
	text(r.ClubID)
	club(r.Club)
	b.DateTime(r.Made)
	b.DateTime(r.Changed)
	text(r.HostID)
	club(r.Host)
	text(r.Code)
	if r.Ends.IsZero() {
		b.Null()
	} else {
		b.DateTime(r.Ends)
	}
	text(r.FormerID)
	if r.Former == nil {
		b.Null()
	} else {
		b.BeginObject()
		b.String(r.Former.ID)
		b.String(r.Former.Note)
		text(r.Former.ClubID)
		b.EndObject()
	}
	b.String(r.Season)
}

func decodeDeal(rec record.Record, r *Deal) error {
	if rec.Len() != dealFields {
		return errors.New("it is no deal")
	}
	text := func(json []byte) string {
		s, _ := record.String(json)
		return s
	}
	at := func(field int) time.Time {
		v, _ := record.DateTime(rec.JSON(field))
		return v
	}
	var parts [3][]byte
	club := func(json []byte) *ClubCopy {
		if json == nil || !record.Object(json, parts[:2]) {
			return nil
		}
		return &ClubCopy{text(parts[0]), text(parts[1])}
	}
	*r = Deal{
		ID: text(rec.JSON(dealID)), Note: text(rec.JSON(dealNote)), Season: text(rec.JSON(dealSeason)),
		ClubID: text(rec.JSON(dealClubID)), Club: club(rec.JSON(dealClub)), Made: at(dealMade), Changed: at(dealChanged),
		HostID: text(rec.JSON(dealHostID)), Host: club(rec.JSON(dealHost)), Code: text(rec.JSON(dealCode)),
		Ends: at(dealEnds), FormerID: text(rec.JSON(dealFormerID)),
	}
	if json := rec.JSON(dealFormer); json != nil && record.Object(json, parts[:]) {
		r.Former = &DealCopy{text(parts[0]), text(parts[1]), text(parts[2])}
	}
	return nil
}

// time is the field that holds a time.
func (r *Deal) time(field int) *time.Time {
	return map[int]*time.Time{dealMade: &r.Made, dealChanged: &r.Changed, dealEnds: &r.Ends}[field]
}

func (r *Deal) value(field int) keys.Value {
	if t := r.time(field); t != nil {
		return keys.DateTime(*t)
	}
	text := map[int]string{dealID: r.ID, dealNote: r.Note, dealClubID: r.ClubID, dealHostID: r.HostID,
		dealCode: r.Code, dealFormerID: r.FormerID, dealSeason: r.Season}[field]
	if text == "" {
		return keys.Value{}
	}
	return keys.String(text)
}

func (r *Deal) clone() Deal {
	c := *r
	c.Club, c.Host, c.Former = pointer(r.Club), pointer(r.Host), pointer(r.Former)
	return c
}

// dealRef is the reference at a field, beside its identifier.
func dealRef[C any](
	mode refMode, path string, field int, source *querydb.Model, id func(*Deal) string, at func(*Deal) **C,
	copied func(source any) *C,
) querydb.Reference[Deal] {
	return querydb.Reference[Deal]{
		Path: path, Field: field, ID: field - 1, Source: source, Cascade: mode.cascade, Transactional: mode.transactional,
		NullIfMissing: mode.nullIfMissing, OnRequest: mode.onRequest,
		Identifier: func(r *Deal, _ int) string { return id(r) },
		Fill: func(r *Deal, _ int, source any) {
			if *at(r) = nil; source != nil {
				*at(r) = copied(source)
			}
		},
		Keep:   func(r *Deal, _ int, from *Deal, _ int) { *at(r) = *at(from) },
		Filled: func(r *Deal, _ int) bool { return *at(r) != nil },
	}
}

func (f *dealForm) codec() *querydb.Codec[Deal] {
	m := f.model()
	club := func(source any) *ClubCopy {
		c := source.(*Club)
		return &ClubCopy{c.ID, c.Name}
	}
	return &querydb.Codec[Deal]{
		Model: m, Encode: encodeDeal, Decode: decodeDeal,
		Value: func(r *Deal, field int) keys.Value { return r.value(field) },
		Clone: func(r *Deal) Deal { return r.clone() },
		Time:  func(r *Deal, field int) time.Time { return *r.time(field) },
		SetTime: func(r *Deal, field int, t time.Time) {
			*r.time(field) = t
		},
		References: querydb.ReferencesOf[Deal]{
			dealRef(f.club, "club", dealClub, clubModel, func(r *Deal) string { return r.ClubID },
				func(r *Deal) **ClubCopy { return &r.Club }, club),
			dealRef(f.host, "host", dealHost, clubModel, func(r *Deal) string { return r.HostID },
				func(r *Deal) **ClubCopy { return &r.Host }, club),
			dealRef(f.former, "former", dealFormer, m, func(r *Deal) string { return r.FormerID },
				func(r *Deal) **DealCopy { return &r.Former }, func(source any) *DealCopy {
					d := source.(*Deal)
					return &DealCopy{d.ID, d.Note, d.ClubID}
				}),
		},
	}
}

// byOps is the codec as one whose references have a number of places, which is always one: copies follow by ops alone.
func byOps(codec *querydb.Codec[Deal]) *querydb.Codec[Deal] {
	c := *codec
	refs := slices.Clone(codec.References.(querydb.ReferencesOf[Deal]))
	c.References = refs
	for i := range refs {
		refs[i].Count = func(*Deal) int { return 1 }
	}
	return &c
}

func dealOps(codec *querydb.Codec[Deal]) *projection.Ops[Deal, string, string] {
	return opsByID(codec, func(r *Deal, id string) { r.ID = id })
}
