package querydb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// bill is a row whose date a projector may forget to set.
type bill struct {
	id     string
	issued keys.Date
}

var bills = &querydb.Codec[bill]{
	Model: &querydb.Model{
		Name: "Bill", Table: "Bill",
		Fields: []querydb.Field{{Name: "id", Scalar: "ID"}, {Name: "issued", Scalar: "Date"}},
		PK: querydb.Half{
			Layout: keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}, Fields: []int{0},
		},
		TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	},
	Encode: func(b *record.Builder, r *bill) {
		b.String(r.id)
		b.String(string(r.issued))
	},
	Value: func(r *bill, _ int) keys.Value { return keys.String(r.id) },
}

func TestADateThatWasNeverSetIsNotStored(t *testing.T) {
	var b record.Builder
	_, err := querydb.Encode(bills, &b, &bill{id: "b1"})
	if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "field issued") {
		t.Errorf("encode a row without its date: %v, want ErrInvalid that names the field", err)
	}
	if _, err := querydb.Encode(bills, &b, &bill{id: "b1", issued: "2024-01-15"}); err != nil {
		t.Errorf("encode a row with its date: %v", err)
	}
}

// TestAConversionMakesNoDateAndNoNumber of a text that is none: what is stored is served as it is.
func TestAConversionMakesNoDateAndNoNumber(t *testing.T) {
	for scalar, texts := range map[string]map[string]bool{
		"Date": {"2024-01-15": true, "2024-02-30": false, "tomorrow": false, "15.1.2024": false, "2024-01-15T10:00Z": false},
		"Decimal": {"12.5": true, "-0.07": true, "7": true, "1.50": true, strings.Repeat("9", 999): true,
			"1e3": false, "abc": false, "12.": false, ".5": false, "+1": false, "--1": false, "1.2.3": false, "NaN": false,
			"-": false, strings.Repeat("9", 1000): false, "1 ": false},
	} {
		codec, model := *bills, *bills.Model
		model.Fields = []querydb.Field{model.Fields[0], {Name: "issued", Scalar: scalar}}
		codec.Model = &model
		for text, is := range texts {
			var b record.Builder
			_, err := querydb.Encode(&codec, &b, &bill{id: "b1", issued: keys.Date(text)})
			told := errors.Is(err, querydb.ErrInvalid) && strings.Contains(err.Error(), "keys.Parse"+scalar)
			if is && err != nil || !is && !told {
				t.Errorf("%s %.20q: %v", scalar, text, err)
			}
		}
	}
}

// TestAKeyIsText: of what is none the record would have another text, under which no one finds the row.
func TestAKeyIsText(t *testing.T) {
	var b record.Builder
	_, err := querydb.Encode(bills, &b, &bill{id: "caf\xc3", issued: "2024-01-15"})
	if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("encode a row whose id is cut inside of a letter: %v, want ErrInvalid that says so", err)
	}
}

// TestAnEmptyIdIsNoKey whatever the key has around it: the rows of all events that lack the id would be one. Of several
// fields one alone may be empty.
func TestAnEmptyIdIsNoKey(t *testing.T) {
	id, note := keys.Segment{Field: "id", Kind: keys.KindString}, keys.Segment{Field: "note", Kind: keys.KindString}
	number := keys.Segment{Field: "note", Kind: keys.KindInt}
	for _, c := range []struct {
		what     string
		segments []keys.Segment
		fields   []int
		row      bill
		is       bool
	}{
		{"no id", []keys.Segment{id}, []int{0}, bill{}, false},
		{"no id, with a note outside the key", []keys.Segment{id}, []int{0}, bill{issued: "x"}, false},
		{"neither of two", []keys.Segment{id, note}, []int{0, 1}, bill{}, false},
		{"one of two", []keys.Segment{id, note}, []int{0, 1}, bill{issued: "x"}, true},
		{"a number alone", []keys.Segment{id, number}, []int{0, 2}, bill{}, true},
		{"a literal alone", nil, nil, bill{}, true},
	} {
		codec, model := *bills, *bills.Model
		layout := keys.Layout{Head: "$cricket#v1#team#id_", Sep: "#", Segments: c.segments}
		other := querydb.Half{Layout: keys.Layout{Head: "rows"}}
		codec.Model = &model
		codec.Value = func(r *bill, field int) keys.Value {
			return []keys.Value{keys.String(r.id), keys.String(string(r.issued)), keys.Int(0)}[field]
		}
		for half, place := range map[string]*querydb.Half{"partition": &model.PK, "sort": &model.SK} {
			model.PK, model.SK = other, other
			*place = querydb.Half{Layout: layout, Fields: c.fields}
			_, err := querydb.KeyOf(&codec, &c.row)
			told := errors.Is(err, querydb.ErrInvalid) && strings.HasPrefix(err.Error(), "make ") &&
				strings.HasSuffix(err.Error(), ": the key is made of field id, which is empty")
			if c.is && err != nil || !c.is && !told {
				t.Errorf("%s in the %s half: %v, want a key: %t", c.what, half, err, c.is)
			}
		}
	}
}

// TestATextThatIsCutInsideOfALetterIsNotStored: the next batch would read another than the one that has written it.
func TestATextThatIsCutInsideOfALetterIsNotStored(t *testing.T) {
	var b record.Builder
	codec, model := *bills, *bills.Model
	model.Fields = []querydb.Field{model.Fields[0], {Name: "note", Scalar: "String"}}
	codec.Model = &model
	_, err := querydb.Encode(&codec, &b, &bill{id: "b1", issued: "at the caf\xc3"})
	if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "Bill") ||
		!strings.Contains(err.Error(), "field note") || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("encode a row with such a text: %v, want ErrInvalid that says so, with model and field", err)
	}
}

// TestADateThatWasNeverSetIsFoundAtAnyDepth, in objects and in lists.
func TestADateThatWasNeverSetIsFoundAtAnyDepth(t *testing.T) {
	day := querydb.Field{Name: "day", Scalar: "Date"}
	stay := querydb.Field{Name: "stay", Object: []querydb.Field{{Name: "place", Scalar: "String"}, day}}
	for name, c := range map[string]struct {
		field querydb.Field
		write func(b *record.Builder, day string)
		want  string
	}{
		"object": {stay, func(b *record.Builder, day string) {
			writeStay(b, day)
		}, "field stay.day"},
		"list of dates": {querydb.Field{Name: "days", Scalar: "Date", List: true}, func(b *record.Builder, day string) {
			b.BeginList()
			b.String("2024-01-15")
			b.String(day)
			b.EndList()
		}, "field days"},
		"list of objects in an object": {querydb.Field{Name: "trip", Object: []querydb.Field{
			{Name: "stays", List: true, Object: stay.Object},
		}}, func(b *record.Builder, day string) {
			b.BeginObject()
			b.BeginList()
			writeStay(b, "2024-01-15")
			writeStay(b, day)
			b.EndList()
			b.EndObject()
		}, "field trip.stays.day"},
	} {
		t.Run(name, func(t *testing.T) {
			codec, model := *bills, *bills.Model
			codec.Model, model.Fields = &model, []querydb.Field{model.Fields[0], c.field}
			codec.Encode = func(b *record.Builder, r *bill) {
				b.String(r.id)
				c.write(b, string(r.issued))
			}
			var b record.Builder
			_, err := querydb.Encode(&codec, &b, &bill{id: "b1"})
			if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), c.want+" ") {
				t.Errorf("encode a row without its date: %v, want ErrInvalid of %s", err, c.want)
			}
			if _, err := querydb.Encode(&codec, &b, &bill{id: "b1", issued: "2024-01-15"}); err != nil {
				t.Errorf("encode a row with its date: %v", err)
			}
		})
	}
}

func writeStay(b *record.Builder, day string) {
	b.BeginObject()
	b.String("Oslo")
	b.String(day)
	b.EndObject()
}

// TestATextThatTheEnumDoesNotHaveIsNotStored, in a field, in a list, and in an object: a projector may make an enum of
// any text.
func TestATextThatTheEnumDoesNotHaveIsNotStored(t *testing.T) {
	state := querydb.Field{Name: "state", Scalar: "String", Enum: "State"}
	many := state
	many.List = true
	for name, c := range map[string]struct {
		field querydb.Field
		write func(b *record.Builder, state string)
		want  string
	}{
		"field": {state, func(b *record.Builder, state string) { b.String(state) }, "field state "},
		"list": {many, func(b *record.Builder, state string) {
			b.BeginList()
			b.String("PAID")
			b.String(state)
			b.EndList()
		}, "field state "},
		"object": {querydb.Field{Name: "part", Object: []querydb.Field{state}}, func(b *record.Builder, state string) {
			b.BeginObject()
			b.String(state)
			b.EndObject()
		}, "field part.state "},
	} {
		t.Run(name, func(t *testing.T) {
			codec, model := *bills, *bills.Model
			codec.Model, model.Fields = &model, []querydb.Field{model.Fields[0], c.field}
			model.Enums = []querydb.Enum{{Name: "State", Values: []string{"OPEN", "PAID"}}}
			codec.Encode = func(b *record.Builder, r *bill) {
				b.String(r.id)
				c.write(b, string(r.issued))
			}
			var b record.Builder
			for _, text := range []string{"LOST", "open", "", `PA"ID`} {
				_, err := querydb.Encode(&codec, &b, &bill{id: "b1", issued: keys.Date(text)})
				if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("encode %q: %v, want ErrInvalid of %s", text, err, c.want)
				}
			}
			if _, err := querydb.Encode(&codec, &b, &bill{id: "b1", issued: "OPEN"}); err != nil {
				t.Errorf("encode a value: %v", err)
			}
		})
	}
}
