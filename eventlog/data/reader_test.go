package data_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/data"
	"github.com/foldql/foldql/keys"
)

// field reads an object with one field x, of a scalar, and returns its text and the error's.
func field[T any](read func(*data.Reader) T) func(text string) (string, string) {
	fields := []data.Field{{Name: "x"}}
	return func(text string) (string, string) {
		v, err := data.Decode([]byte(`{"x":`+text+`}`), func(r *data.Reader) (v *T) {
			for range r.Object(fields) {
				v = new(read(r))
			}
			return v
		})
		if err != nil {
			var bad *eventlog.FieldError
			if !errors.As(err, &bad) {
				return "", fmt.Sprintf("not a FieldError: %v", err)
			}
			return "", err.Error()
		}
		if v == nil {
			return "nil", ""
		}
		return fmt.Sprintf("%v", *v), ""
	}
}

func TestScalarsTakeTheirValuesAndNoOthers(t *testing.T) {
	readers := map[string]func(string) (string, string){
		"String":   field((*data.Reader).String),
		"ID":       field((*data.Reader).ID),
		"Boolean":  field((*data.Reader).Boolean),
		"Int":      field((*data.Reader).Int),
		"Int64":    field((*data.Reader).Int64),
		"Float":    field((*data.Reader).Float),
		"Decimal":  field((*data.Reader).Decimal),
		"Date":     field((*data.Reader).Date),
		"DateTime": field(func(r *data.Reader) string { return r.DateTime().Format(time.RFC3339Nano) }),
		"Enum":     field(func(r *data.Reader) string { return r.Enum("RED", "GREEN") }),
	}
	cases := []struct{ scalar, text, want, fault string }{
		{"String", `"Zo\u00eb"`, "Zoë", ""},
		{"String", `null`, "nil", ""},
		{"String", `7`, "", "want String, got number"},
		{"String", `{"a":1}`, "", "want String, got object"},
		{"ID", `"a"`, "a", ""},
		{"ID", `7`, "7", ""},
		{"ID", `-0`, "0", ""},
		{"ID", `7.0`, "7", ""},
		{"ID", `7.5`, "", `want ID, got "7.5"`},
		{"ID", `true`, "", "want ID, got boolean"},
		{"Boolean", `true`, "true", ""},
		{"Boolean", `false`, "false", ""},
		{"Boolean", `"true"`, "", "want Boolean, got string"},
		{"Int", `2147483647`, "2147483647", ""},
		{"Int", `-2147483648`, "-2147483648", ""},
		{"Int", `3.00`, "3", ""},
		{"Int", `2147483648`, "", `want Int, got "2147483648"`},
		{"Int", `1e3`, "", `want Int, got "1e3"`},
		{"Int", `"7"`, "", "want Int, got string"},
		{"Int", `[7]`, "", "want Int, got list"},
		{"Int64", `9223372036854775807`, "9223372036854775807", ""},
		{"Int64", `"-9223372036854775808"`, "-9223372036854775808", ""},
		{"Int64", `9223372036854775808`, "", `want Int64, got "9223372036854775808"`},
		{"Int64", `"+1"`, "", `want Int64, got "+1"`},
		{"Int64", `""`, "", `want Int64, got ""`},
		{"Int64", `"1.5"`, "", `want Int64, got "1.5"`},
		{"Int64", `false`, "", "want Int64, got boolean"},
		{"Float", `-0.25e2`, "-25", ""},
		{"Float", `1e400`, "", "want Float, got a number beyond its range"},
		{"Float", `"1"`, "", "want Float, got string"},
		{"Decimal", `12.50`, "12.5", ""},
		{"Decimal", `"-3e2"`, "-300", ""},
		{"Decimal", `"a lot"`, "", `want Decimal, got "a lot"`},
		{"Decimal", `true`, "", "want Decimal, got boolean"},
		{"Date", `"2024-02-29"`, "2024-02-29", ""},
		{"Date", `"2023-02-29"`, "", `want Date, got "2023-02-29"`},
		{"Date", `20240229`, "", "want Date, got number"},
		{"DateTime", `"2024-01-15T12:30:00.123456789+02:00"`, "2024-01-15T10:30:00.123456789Z", ""},
		{"DateTime", `"2024-01-15"`, "", `want DateTime, got "2024-01-15"`},
		{"DateTime", `1705314600`, "", "want DateTime, got number"},
		{"Enum", `"GREEN"`, "GREEN", ""},
		{"Enum", `"green"`, "", `want one of RED, GREEN, got "green"`},
		{"Enum", `1`, "", "want enum, got number"},
		{"String", `"a`, "", "not JSON: the string has no end at byte 6"},
		{"Int", `{"a":}`, "", "not JSON: want a value, got '}' at byte 10"},
		{"Int", `x`, "", "not JSON: want a value, got 'x' at byte 5"},
	}
	for _, c := range cases {
		want := c.fault
		if want != "" {
			want = "field x: " + want
		}
		if got, fault := readers[c.scalar](c.text); got != c.want || fault != want {
			t.Errorf("%s of %s: %q, error %q; want %q, error %q", c.scalar, c.text, got, fault, c.want, want)
		}
	}
}

const whole = `{"orderId":"7","customer":"Ada","channel":"WEB","lines":[{"productId":"p1","quantity":2},` +
	`{"productId":"p2","quantity":1}],"notes":["a","b"],"ratings":[4.5,null],"discount":0.5,"total":12.50,` +
	`"placedAt":"2024-01-15T10:30:00Z"}`

func TestAnObjectIsReadInAnyOrder(t *testing.T) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(whole), &members); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	rating, discount := 4.5, 0.5
	want := OrderPlaced{
		OrderID: "7", Customer: "Ada", Channel: ChannelWeb,
		Lines: []OrderedProduct{{"p1", 2}, {"p2", 1}}, Notes: []string{"a", "b"}, Ratings: []*float64{&rating, nil},
		Discount: &discount, Total: keys.Decimal("12.5"), PlacedAt: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
	}
	for _, text := range []string{whole, string(sorted)} {
		got, err := DecodeOrderPlaced([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestFaultsNameThePathOfTheField(t *testing.T) {
	cases := []struct{ old, new, want string }{
		{`"quantity":1}`, `"quantity":"1"}`, "field lines[1].quantity: want Int, got string"},
		{`"quantity":2}`, `"amount":2}`, "field lines[0].quantity: required, but missing"},
		{`{"productId":"p2","quantity":1}`, `null`, "field lines[1]: want object, got null"},
		{`"b"]`, `3]`, "field notes[1]: want String, got number"},
		{`["a","b"]`, `"a"`, "field notes: want list, got string"},
		{`"WEB"`, `"PHONE"`, `field channel: want one of WEB, STORE, got "PHONE"`},
		{`"customer":"Ada",`, ``, "field customer: required, but missing"},
		{`"customer":`, `"far":1,"Custmer":`, `field customer: required, but missing; there is "Custmer", which is not ` +
			`declared: is it meant?`},
		{`"quantity":2}`, `"quantitty":2}`, `field lines[0].quantity: required, but missing; there is ` +
			`"quantitty", which is ` +
			`not declared: is it meant?`},
		{`"Ada"`, `null`, "field customer: required, got null"},
		{`"discount":0.5`, `"discount":null,"discount":1`, "field discount: given twice"},
		{`"discount"`, `"other":{"a":1,"a":2},"discount"`, `field other: not JSON: the name "a" is given twice at byte `},
		{whole, `[]`, "data: want object, got list"},
		{whole, `null`, "data: want object, got null"},
		{whole, ``, "data: not JSON: want a value, got the end of the text at byte 0"},
		{whole, whole + "x", "data: not JSON: want the end of the text, got 'x' at byte "},
		{`00Z"}`, `00Z"`, "field placedAt: not JSON: want ',' or '}', got the end of the text at byte "},
	}
	for _, c := range cases {
		text := strings.Replace(whole, c.old, c.new, 1)
		got, err := DecodeOrderPlaced([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s for %s\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
		if diff := cmp.Diff(OrderPlaced{}, got); diff != "" {
			t.Errorf("beside an error there is a value:\n%s", diff)
		}
	}
}

// tree nests as deeply as the text says.
type tree struct{ Children []tree }

func readTree(r *data.Reader) (v tree) {
	for range r.Object([]data.Field{{Name: "c"}}) {
		v.Children = data.List(r, readTree)
	}
	return v
}

func TestNestingIsBounded(t *testing.T) {
	text := strings.Repeat(`{"c":[`, 1000) + strings.Repeat(`]}`, 1000)
	if _, err := data.Decode([]byte(text), readTree); err == nil || !strings.HasSuffix(err.Error(), "nested too deeply") {
		t.Errorf("error %v", err)
	}
}

func TestManyFieldsAreTracked(t *testing.T) {
	fields := make([]data.Field, 200)
	members := make([]string, len(fields))
	for i := range fields {
		fields[i] = data.Field{Name: fmt.Sprint("f", i), Required: true}
		members[i] = fmt.Sprintf(`"f%d":%d`, i, i)
	}
	read := func(r *data.Reader) (sum int) {
		for range r.Object(fields) {
			sum += r.Int()
		}
		return sum
	}
	if sum, err := data.Decode([]byte("{"+strings.Join(members, ",")+"}"), read); err != nil || sum != 199*100 {
		t.Errorf("sum %d, error %v", sum, err)
	}
	_, err := data.Decode([]byte("{"+strings.Join(members[:199], ",")+"}"), read)
	if err == nil || err.Error() != "field f199: required, but missing" {
		t.Errorf("error %v", err)
	}
}

// FuzzDecode never panics, and accepts JSON only.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"orderId":7,"lines":[{"quantity":"x"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := DecodeOrderPlaced(text)
		var bad *eventlog.FieldError
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("%q: not a FieldError: %v", text, err)
		}
		if err == nil && !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(whole)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeOrderPlaced(text); err != nil {
			b.Fatal(err)
		}
	}
}
