package record

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
)

// build makes a record of n fields.
func build(t interface{ Fatal(...any) }, n int, fill func(b *Builder)) Record {
	var b Builder
	b.Begin(n)
	fill(&b)
	rec, field, err := b.Finish()
	if err != nil {
		t.Fatal("field", field, err)
	}
	if !rec.Valid() || rec.Len() != n {
		t.Fatal("not a valid record", []byte(rec))
	}
	return rec
}

func texts(r Record) []string {
	var out []string
	for i := range r.Len() {
		out = append(out, string(r.JSON(i)))
	}
	return out
}

func TestFieldsAreKeptAsTheirJSON(t *testing.T) {
	rec := build(t, 13, func(b *Builder) {
		b.String("order-1")
		b.Null()
		b.Boolean(true)
		b.Int(-42)
		b.Int64(math.MaxInt64)
		b.Float(12.5)
		b.Float(1e300)
		b.Float(1e-7)
		b.DateTime(time.Date(2024, 1, 15, 12, 30, 0, 123456000, time.FixedZone("", 7200)))
		b.BeginList()
		b.EndList()
		b.BeginList()
		b.String("a,]")
		b.String("b")
		b.EndList()
		b.String(keys.Decimal("").String())
		b.String("")
	})
	want := []string{`"order-1"`, ``, `true`, `-42`, `"9223372036854775807"`, `12.5`, `1e+300`, `1e-7`,
		`"2024-01-15T10:30:00.123456Z"`, `[]`, `["a,]","b"]`, `"0"`, `""`}
	if diff := cmp.Diff(want, texts(rec)); diff != "" {
		t.Error(diff)
	}
	for _, i := range []int{-1, 1, 13, 1 << 20} {
		if rec.JSON(i) != nil {
			t.Errorf("field %d is there: %s", i, rec.JSON(i))
		}
	}
}

func TestWhatCannotBeStoredMakesFinishNameTheField(t *testing.T) {
	tests := map[string]func(b *Builder){
		"32 bits": func(b *Builder) { b.Int(math.MaxInt32 + 1) },
		"NaN":     func(b *Builder) { b.Float(math.NaN()) },
		"+Inf":    func(b *Builder) { b.Float(math.Inf(1)) },
		"year 10000": func(b *Builder) {
			b.DateTime(time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)))
		},
		"no absent elements":    func(b *Builder) { b.BeginList(); b.Null(); b.EndList() },
		"holds no lists":        func(b *Builder) { b.BeginList(); b.BeginList(); b.EndList() },
		"no list was begun":     func(b *Builder) { b.EndList() },
		"no object was begun":   func(b *Builder) { b.BeginList(); b.EndObject() },
		"fields were appended":  func(b *Builder) {},
		"1 fields were appende": func(b *Builder) { b.BeginList() },
		"stands where none can": func(b *Builder) { b.BeginObject(); b.BeginList(); b.BeginRecord(1) },
		"0 fields were appende": func(b *Builder) { b.BeginRecord(1); b.EndObject() },
		"to a record of 1":      func(b *Builder) { b.BeginRecord(1); b.Null(); b.Null(); b.EndObject() },
	}
	for want, fill := range tests {
		var b Builder
		for range 2 { // a builder that failed can begin another record
			b.Begin(2)
			b.String("x")
			fill(&b)
			rec, field, err := b.Finish()
			if rec != nil || field != 1 || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Finish = %v, field %d, %v, want an error of field 1 with %q", rec, field, err, want)
			}
		}
		b.Begin(1)
		b.Null()
		if _, _, err := b.Finish(); err != nil {
			t.Errorf("the next record: %v", err)
		}
	}
	var b Builder
	b.Begin(1)
	b.Null()
	b.Null()
	if _, _, err := b.Finish(); err == nil {
		t.Error("a field too many is taken")
	}
}

// TestABoundHoldsForListsAndForTheNextRecordNot: what fails leaves the builder as it is wanted.
func TestABoundHoldsForListsAndForTheNextRecordNot(t *testing.T) {
	tooMany := errors.New("too many")
	var b Builder
	for name, build := range map[string]func(){
		"a long text":   func() { b.String(strings.Repeat("x", 100)) },
		"a long list":   func() { b.BeginList(); times(100, func() { b.Int(1) }); b.EndList() },
		"a list of one": func() { b.BeginList(); b.String(strings.Repeat("x", 100)); b.EndList() },
	} {
		b.Begin(1)
		b.Bound(50, tooMany)
		build()
		if _, _, err := b.Finish(); err != tooMany {
			t.Errorf("%s: %v, want that it is too many", name, err)
		}
		b.Begin(1)
		build()
		if _, _, err := b.Finish(); err != nil {
			t.Errorf("%s, without a bound: %v", name, err)
		}
	}
}

func times(n int, f func()) {
	for range n {
		f()
	}
}

func TestRecordsOfOneBuilderShareNoMemory(t *testing.T) {
	var b Builder
	b.Begin(1)
	b.String("first")
	first, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	b.Begin(1)
	b.String("other")
	if _, _, err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := string(first.JSON(0)); got != `"first"` {
		t.Errorf("the first record now holds %s", got)
	}
	if grown := append(first.JSON(0), 'x'); len(grown) != 8 || !first.Valid() {
		t.Error("appending to a field's text reaches into the record")
	}
}

func TestAStringIsWrittenAsJSONAndReadsBackUnlessItIsNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOf(rapid.Byte())
		s := rapid.OneOf(rapid.String(), rapid.StringMatching("[\x00-\x7f]*"), rapid.Map(bytes, func(b []byte) string {
			return string(b)
		})).Draw(t, "s")
		checkString(t, s)
	})
	for _, s := range []string{"", "plain", "\u2028\u2029", "\x7f", "\"\\/\b\f\n\r\t\x00\x1f", "é\xff漢", "\xed\xa0\x80",
		"\xf0\x9f\x98", "😀", "\ufffd"} {
		checkString(t, s)
	}
}

func checkString(t interface{ Fatalf(string, ...any) }, s string) {
	var b Builder
	b.Begin(1)
	b.String(s)
	rec, _, err := b.Finish()
	if !utf8.ValidString(s) {
		if err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%q, which is no UTF-8, is written as %s, %v: want an error that says so", s, rec, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%q is not written: %v", s, err)
	}
	text := rec.JSON(0)
	var std string
	if err := json.Unmarshal(text, &std); err != nil || std != s {
		t.Fatalf("%q is written as %s, which reads as %q, %v", s, text, std, err)
	}
	if got, ok := String(text); !ok || got != s {
		t.Fatalf("%q reads back as %q, %v", s, got, ok)
	}
}

func TestEveryTypeReadsBack(t *testing.T) { rapid.Check(t, roundTrip) }
func FuzzEveryTypeReadsBack(f *testing.F) { f.Fuzz(rapid.MakeFuzz(roundTrip)) }

func roundTrip(t *rapid.T) {
	s := rapid.String().Draw(t, "string")
	yes := rapid.Bool().Draw(t, "boolean")
	small := int(rapid.Int32().Draw(t, "int"))
	large := rapid.Int64().Draw(t, "int64")
	f := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }).Draw(t, "float")
	at := time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "seconds"),
		rapid.Int64Range(0, 1e9-1).Draw(t, "nanos"))
	list := rapid.SliceOf(rapid.String()).Draw(t, "list")
	rec := build(t, 10, func(b *Builder) {
		b.String(s)
		b.Boolean(yes)
		b.Null()
		b.Int(small)
		b.Int64(large)
		b.Float(f)
		b.DateTime(at)
		b.BeginList()
		for _, e := range list {
			b.String(e)
		}
		b.EndList()
		writeObject(b, func(b *Builder, _ int) { b.BeginObject() }, s, list, at)
		writeObject(b, (*Builder).BeginRecord, s, list, at)
	})
	want(t, "String")(String(rec.JSON(0)))(s)
	want(t, "Boolean")(Boolean(rec.JSON(1)))(yes)
	want(t, "Int")(Int(rec.JSON(3)))(small)
	want(t, "Int64")(Int64(rec.JSON(4)))(large)
	want(t, "Float")(Float(rec.JSON(5)))(f)
	want(t, "DateTime")(DateTime(rec.JSON(6)))(at.UTC())
	got := []string{}
	if !List(rec.JSON(7), func(elem []byte) bool {
		e, ok := String(elem)
		got = append(got, e)
		return ok
	}) {
		t.Fatalf("List cannot read %s", rec.JSON(7))
	}
	if diff := cmp.Diff(append([]string{}, list...), got); diff != "" {
		t.Fatal(diff)
	}
	readObject(t, rec.JSON(8), s, list, at)
	readObject(t, rec.JSON(9), s, list, at)
	for i, text := range texts(rec) {
		if i != 2 && i != 9 && !json.Valid([]byte(text)) {
			t.Fatalf("field %d is %s", i, text)
		}
	}
}

// writeObject writes an object of a string, of a list of objects, of an absent field and of a time. begin begins it,
// and those within.
func writeObject(b *Builder, begin func(b *Builder, fields int), s string, list []string, at time.Time) {
	begin(b, 4)
	b.String(s)
	b.BeginList()
	for _, e := range list {
		begin(b, 2)
		b.Null()
		b.String(e)
		b.EndObject()
	}
	b.EndList()
	b.Null()
	b.DateTime(at)
	b.EndObject()
}

// readObject reads what writeObject writes.
func readObject(t *rapid.T, json []byte, s string, list []string, at time.Time) {
	var fields [4][]byte
	if !Object(json, fields[:]) || fields[2] != nil {
		t.Fatalf("Object reads %s as %q", json, fields)
	}
	want(t, "String")(String(fields[0]))(s)
	want(t, "DateTime")(DateTime(fields[3]))(at.UTC())
	n := 0
	if !List(fields[1], func(elem []byte) bool {
		var fields [2][]byte
		ok := Object(elem, fields[:])
		want(t, "String")(String(fields[1]))(list[n])
		n++
		return ok && fields[0] == nil
	}) || n != len(list) {
		t.Fatalf("List reads %d objects of %s", n, fields[1])
	}
}

// want compares what a reader returned.
func want(t *rapid.T, reader string) func(got any, ok bool) func(want any) {
	return func(got any, ok bool) func(want any) {
		return func(want any) {
			if !ok || got != want {
				t.Fatalf("%s reads %v, %v, want %v", reader, got, ok, want)
			}
		}
	}
}

func TestTextOfAnotherTypeIsNotRead(t *testing.T) {
	wrong := map[string][]string{
		"String":   {``, `"`, `1`, `true`, `["a"]`, `"a`, `a"`, `"a"b"`, `"\x"`, `"\"`, "\"\n\"", "\"\xff\"", `null`},
		"Boolean":  {``, `"true"`, `1`, `True`, `null`},
		"Int":      {``, `"1"`, `1.5`, `2147483648`, `+1`, `0x1`, `1_0`, `null`},
		"Int64":    {``, `1`, `"1`, `"+1"`, `"9223372036854775808"`, `""`, `null`},
		"Float":    {``, `"1"`, `NaN`, `Inf`, `0x1p4`, `1_0`, `+1`, `1e999`, `null`},
		"DateTime": {``, `"2024-01-15"`, `1`, `null`},
		"List":     {``, `"a"`, `[`, `["a",]`, `[,"a"]`, `["a",,"b"]`, `null`, `[[1]`, `[1]]`},
		"Object":   {``, `1`, `[]`, `[1]`, `[1,2,3]`, `[1,[2]`, `[1,2],3]`, `null`},
	}
	read := map[string]func(b []byte) bool{
		"String":   func(b []byte) bool { _, ok := String(b); return ok },
		"Boolean":  func(b []byte) bool { _, ok := Boolean(b); return ok },
		"Int":      func(b []byte) bool { _, ok := Int(b); return ok },
		"Int64":    func(b []byte) bool { _, ok := Int64(b); return ok },
		"Float":    func(b []byte) bool { _, ok := Float(b); return ok },
		"DateTime": func(b []byte) bool { _, ok := DateTime(b); return ok },
		"List":     func(b []byte) bool { return List(b, func([]byte) bool { return true }) },
		"Object":   func(b []byte) bool { return Object(b, make([][]byte, 2)) },
	}
	for name, inputs := range wrong {
		for _, text := range inputs {
			if read[name]([]byte(text)) {
				t.Errorf("%s reads %s", name, text)
			}
		}
	}
	if List([]byte(`["a","b"]`), func([]byte) bool { return false }) {
		t.Error("List continues where it was stopped")
	}
}

func TestLargeRecordsHaveWideOffsets(t *testing.T) {
	for _, size := range []int{maxNarrow - 3, maxNarrow - 2, maxNarrow - 1, maxNarrow, 1 << 17} {
		s := strings.Repeat("x", size)
		rec := build(t, 3, func(b *Builder) { b.Int(1); b.String(s); b.Boolean(true) })
		if got, ok := String(rec.JSON(1)); !ok || got != s || string(rec.JSON(2)) != "true" {
			t.Errorf("a string of %d bytes does not read back", size)
		}
		if small := Project(rec, []int{0, 2}); small[0] != narrow || !small.Valid() {
			t.Errorf("what is left of a large record is not small: version %d", small[0])
		}
	}
}

// TestADamagedRecordWithinIsNotRead: wherever it breaks off, and wherever one of its fields ends.
func TestADamagedRecordWithinIsNotRead(t *testing.T) {
	rec := build(t, 1, func(b *Builder) { b.BeginRecord(2); b.String("x"); b.Int(1); b.EndObject() })
	object := rec.JSON(0)
	for size := range object {
		if Object(object[:size], make([][]byte, 2)) {
			t.Errorf("its first %d bytes are read as an object", size)
		}
	}
	if Object(object, make([][]byte, 1)) || Object(object, make([][]byte, 3)) {
		t.Error("it is read as an object of another type")
	}
	const first, second = headSize, headSize + 4 // where it says that its fields end
	for _, wrong := range []struct{ at, end int }{{first, 5}, {first, 255}, {second, 2}, {second, 5}, {second, 255}} {
		damaged := slices.Clone(object)
		damaged[wrong.at] = byte(wrong.end)
		if Object(damaged, make([][]byte, 2)) {
			t.Errorf("it is read with a field that ends at %d", wrong.end)
		}
	}
}

func TestProjectKeepsOnlyTheFieldsGiven(t *testing.T) {
	rec := build(t, 4, func(b *Builder) { b.Int(0); b.Int(1); b.Null(); b.Int(3) })
	tests := []struct {
		fields []int
		want   []string
	}{
		{nil, []string{"", "", "", ""}},
		{[]int{0, 3}, []string{"0", "", "", "3"}},
		{[]int{1, 2}, []string{"", "1", "", ""}},
		{[]int{0, 1, 2, 3}, []string{"0", "1", "", "3"}},
		{[]int{3, 9}, []string{"", "", "", "3"}},
	}
	for _, test := range tests {
		got := Project(rec, test.fields)
		if diff := cmp.Diff(test.want, texts(got)); diff != "" || !got.Valid() {
			t.Errorf("fields %v, valid %v:\n%s", test.fields, got.Valid(), diff)
		}
	}
}

func FuzzValidRecordsAreReadInBounds(f *testing.F) {
	rec := build(f, 2, func(b *Builder) { b.String("x"); b.Null() })
	f.Add([]byte(rec))
	f.Add([]byte{})
	f.Add([]byte{narrow, 0, 0})
	f.Add([]byte{wide, 1, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{narrow, 2, 0, 2, 0, 1, 0, 'x'})
	f.Add([]byte{narrow, 1, 0, 4, 0, '[', wide, 0, 0}) // an object that ends with its first field
	f.Add([]byte{narrow, 1, 0, 5, 0, '[', '[', wide, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		rec := Record(b)
		if !rec.Valid() {
			return
		}
		total := 0
		var all []int
		for i := range rec.Len() {
			total += len(rec.JSON(i))
			all = append(all, i)
		}
		if size := len(rec) - headSize - rec.Len()*rec.width(); total != size {
			t.Fatalf("the fields have %d bytes of %d", total, size)
		}
		if diff := cmp.Diff(texts(rec), texts(Project(rec, all))); diff != "" {
			t.Fatal(diff)
		}
		for i := range rec.Len() {
			List(rec.JSON(i), func(e []byte) bool { String(e); return true })
			readObjectsOf(rec.JSON(i))
		}
	})
}

// readObjectsOf reads a text as an object and as a list of objects, of none to three fields.
func readObjectsOf(json []byte) {
	for n := range 4 {
		fields := make([][]byte, n)
		Object(json, fields)
		for objects := ObjectsOf(json); objects.More(); {
			objects.Next(fields)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("\"\\\n\xff漢")
	f.Fuzz(func(t *testing.T, s string) { checkString(t, s) })
}

func orderRow(b *Builder) {
	b.Begin(5)
	b.String("order-123")
	b.DateTime(time.Unix(1705314600, 123e6))
	b.String("customer-77")
	b.String("shipped")
	b.Float(99.5)
}

func BenchmarkEncode(b *testing.B) {
	var builder Builder
	b.ReportAllocs()
	for b.Loop() {
		orderRow(&builder)
		if _, _, err := builder.Finish(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	var builder Builder
	orderRow(&builder)
	rec, _, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for i := range 5 {
			n += len(rec.JSON(i))
		}
	}
	if n == 0 {
		b.Fatal("no text")
	}
}
