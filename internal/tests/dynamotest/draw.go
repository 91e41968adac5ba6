package dynamotest

import (
	"bytes"
	"github.com/google/go-cmp/cmp"
	"math"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
	"pgregory.net/rapid"
)

// DrawRow makes a row of the table whose index keys are made as querydb makes them, up to a half whose field was
// cleared.
func DrawRow(t *rapid.T, table *driver.Table) driver.Row {
	var b record.Builder
	b.Begin(len(table.Fields))
	b.String(rapid.StringN(1, 20, -1).Draw(t, "key"))
	drawFields(t, &b, table.Fields[1:])
	rec, f, err := b.Finish()
	if err != nil {
		t.Fatal(f, err)
	}
	row := driver.Row{Record: rec}
	row.Key.PK, _ = record.String(rec.JSON(0))
	half, kept := record.String(rec.JSON(2))
	if !kept && rapid.Bool().Draw(t, "cleared") {
		half, kept = "kept", true
	}
	there := kept && half != ""
	byString := driver.IndexKey{HasPK: there, HasSK: rapid.Bool().Draw(t, "has sk")}
	byFloat := driver.IndexKey{HasSK: there, HasPK: rapid.Bool().Draw(t, "has pk")}
	if there {
		byString.PK, byFloat.SK = half, half
	}
	if byString.HasSK {
		byString.SK = "sort"
	}
	if byFloat.HasPK {
		byFloat.PK = "partition"
	}
	row.Indexes = []driver.IndexKey{byString, byFloat}
	if rapid.Bool().Draw(t, "expires") {
		row.Expires = time.Unix(rapid.Int64Range(-1<<33, 1<<33).Draw(t, "until"), rapid.Int64Range(0, 1e9-1).Draw(t,
			"until nanos"))
	}
	return row
}

// drawFields appends fields of a row, or those of an object.
func drawFields(t *rapid.T, b *record.Builder, fields []driver.Field) {
	for i := range fields {
		field := &fields[i]
		switch {
		case field.Nullable && rapid.IntRange(0, 3).Draw(t, "null") == 0:
			b.Null()
		case field.List:
			b.BeginList()
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				drawValue(t, b, field)
			}
			b.EndList()
		default:
			drawValue(t, b, field)
		}
	}
}

func drawValue(t *rapid.T, b *record.Builder, field *driver.Field) {
	if field.Object == nil {
		drawScalar(t, b, field.Scalar)
		return
	}
	b.BeginObject()
	drawFields(t, b, field.Object)
	b.EndObject()
}

// drawScalar appends a value of the type that a projector can make.
func drawScalar(t *rapid.T, b *record.Builder, scalar string) {
	switch scalar {
	case "Boolean":
		b.Boolean(rapid.Bool().Draw(t, "boolean"))
	case "Int":
		b.Int(int(rapid.Int32().Draw(t, "int")))
	case "Int64":
		b.Int64(rapid.Int64().Draw(t, "int64"))
	case "Float":
		odd := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e21, 1e-7, 1.5, math.MaxFloat64,
			math.SmallestNonzeroFloat64, 1e126, 9.99e125, 1e-130, 9e-131})
		any := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) })
		b.Float(rapid.OneOf(odd, any).Draw(t, "float"))
	case "Decimal":
		odd := rapid.SampledFrom([]string{"0", "-0", "1.50", "1e21", "0.10", "100", "-100.001", strings.Repeat("9", 38),
			strings.Repeat("9", 39),
			"1" + strings.Repeat("0", 125), "1" + strings.Repeat("0", 126), "0." + strings.Repeat("0", 129) + "1", "0." +
				strings.Repeat("0", 130) + "1"})
		b.String(rapid.OneOf(odd, rapid.StringMatching(`-?(0|[1-9][0-9]{0,60})(\.[0-9]{0,60}[1-9])?`)).Draw(t, "decimal"))
	case "Date":
		b.String(rapid.StringMatching(`20[0-9]{2}-0[1-9]-1[0-9]`).Draw(t, "date"))
	case "DateTime":
		b.DateTime(time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")))
	default:
		b.String(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "\"\\\n", "a"})).Draw(t, "string"))
	}
}

// Same fails where a row of the table Everything is not the one that is wanted.
func Same(t *rapid.T, want, got driver.Row) {
	for f := range Everything.Fields {
		if w, g := want.Record.JSON(f), got.Record.JSON(f); !bytes.Equal(w, g) || (w == nil) != (g == nil) {
			t.Fatalf("field %s: %s, want %s", Everything.Fields[f].Name, g, w)
		}
	}
	if !want.Expires.Equal(got.Expires) || want.Key != got.Key {
		t.Fatalf("%v %q, want %v %q", got.Expires, got.Key, want.Expires, want.Key)
	}
	if diff := cmp.Diff(want.Indexes, got.Indexes); diff != "" {
		t.Fatal(diff)
	}
}
