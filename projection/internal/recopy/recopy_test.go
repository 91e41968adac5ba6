package recopy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// player is a row that may hold a copy of a team: its name.
type player struct {
	id     string
	teamID *string
	team   *string
	note   string
}

type team struct{ name string }

var reference = querydb.Reference[player]{
	Path: "team", Field: 2, ID: 1, NullIfMissing: true,
	Fill: func(r *player, _ int, source any) {
		if r.team = nil; source != nil {
			name := source.(*team).name
			r.team = &name
		}
	},
}

var codec = &querydb.Codec[player]{
	Model: &querydb.Model{
		Name: "Player", Table: "Player", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "teamId", Scalar: "ID", Nullable: true},
			{Name: "team", Scalar: "String", Nullable: true}, {Name: "note", Scalar: "String"}},
	},
	Encode: func(b *record.Builder, r *player) {
		b.String(r.id)
		for _, s := range []*string{r.teamID, r.team} {
			if s == nil {
				b.Null()
			} else {
				b.String(*s)
			}
		}
		b.String(r.note)
	},
	Decode: func(rec record.Record, r *player) error {
		var texts [4]*string
		for i := range texts {
			if text := rec.JSON(i); text != nil {
				s, ok := record.String(text)
				if !ok {
					return fmt.Errorf("field %d is %s", i, text)
				}
				texts[i] = &s
			}
		}
		*r = player{*texts[0], texts[1], texts[2], *texts[3]}
		return nil
	},
	References: querydb.ReferencesOf[player]{reference},
}

// stored is the row as a store has it.
func (r *player) stored() (querydb.Row, error) {
	row, err := querydb.EncodeWithKey(codec, &record.Builder{}, r, keys.Key{PK: r.id})
	row.Position = querydb.Position{Partition: "p", Offset: uint64(len(r.id))}
	row.Indexes = []querydb.IndexKey{{Key: keys.Key{PK: r.note}, HasPK: true}}
	return row, err
}

// TestARowWithAnotherCopyIsAsIfItWereEncoded: of many rows one after another, whichever come first.
func TestARowWithAnotherCopyIsAsIfItWereEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("x", 70_000)))
		id := rapid.Ptr(rapid.SampledFrom([]string{"A", "B", `"`}), true)
		c := &Recopier{
			Codec: querydb.Any(codec), Reference: &querydb.Any(codec).References()[0], Identifier: rapid.SampledFrom([]string{"A", `"`}).Draw(t, "identifier"),
			OnlyAbsent: rapid.Bool().Draw(t, "only absent"),
		}
		if rapid.Bool().Draw(t, "there is a source") {
			c.Source = &team{text.Draw(t, "source")}
		}
		for range rapid.IntRange(1, 10).Draw(t, "rows") {
			p := player{text.Draw(t, "id"), id.Draw(t, "team id"), rapid.Ptr(text, true).Draw(t, "team"), text.Draw(t, "note")}
			before, err := p.stored()
			if err != nil {
				t.Fatal(err)
			}
			got, follows, err := c.Row(&before)
			if err != nil {
				t.Fatal(err)
			}
			want := before
			if p.teamID != nil && *p.teamID == c.Identifier && (p.team == nil || !c.OnlyAbsent) {
				reference.Fill(&p, 0, c.Source)
				if want, err = p.stored(); err != nil {
					t.Fatal(err)
				}
			} else if follows {
				t.Fatalf("a row of the team %v is given a copy", p.teamID)
			} else {
				got = before
			}
			if !bytes.Equal(want.Record, got.Record) {
				t.Fatalf("follows: %t, the record is %q, want %q", follows, got.Record, want.Record)
			}
			want.Record, got.Record = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("the rest of the row (-want +got):\n%s", diff)
			}
		}
	})
}

// TestARowThatCannotBeReadKeepsNothingFromTheNext, nor one that there is not.
func TestARowThatCannotBeReadKeepsNothingFromTheNext(t *testing.T) {
	of := func(id, note string) querydb.Row {
		var b record.Builder
		b.Begin(4)
		b.String("x")
		b.JSON([]byte(id))
		b.Null()
		b.JSON([]byte(note))
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return querydb.Row{Record: rec}
	}
	short, _, err := (&record.Builder{}).Finish()
	if err != nil {
		t.Fatal(err)
	}
	c := &Recopier{Codec: querydb.Any(codec), Reference: &querydb.Any(codec).References()[0], Identifier: "A",
		Source: &team{"new"}}
	for _, tt := range []struct {
		row             querydb.Row
		follows, failed bool
	}{
		{querydb.Row{}, false, false},
		{querydb.Row{Record: short}, false, true},
		{of(`17`, `"note"`), false, true},
		{of(`"A"`, `17`), false, true},
		{of(`"A"`, `"note"`), true, false},
		{of(`"A"`, `"another"`), true, false},
	} {
		row, follows, err := c.Row(&tt.row)
		if follows != tt.follows || (err != nil) != tt.failed {
			t.Errorf("%q follows: %t, %v", tt.row.Record, follows, err)
		}
		if follows && string(row.Record.JSON(2)) != `"new"` {
			t.Errorf("the copy is %s", row.Record.JSON(2))
		}
	}
}
