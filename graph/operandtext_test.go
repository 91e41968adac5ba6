package graph

import (
	"testing"

	"github.com/foldql/foldql/keys"
)

func TestTextOfOperandsIsReadAsJSONWritesNumbers(t *testing.T) {
	for _, test := range []struct {
		kind keys.Kind
		text string
		want keys.Value // absent where the text is no value
	}{
		{keys.KindFloat, "10", keys.Float(10)},
		{keys.KindFloat, "-1.5e3", keys.Float(-1500)},
		{keys.KindFloat, "1_0", keys.Value{}},
		{keys.KindFloat, "0x1p4", keys.Value{}},
		{keys.KindFloat, "0x1_0p0", keys.Value{}},
		{keys.KindFloat, "Inf", keys.Value{}},
		{keys.KindFloat, "NaN", keys.Value{}},
		{keys.KindFloat, "1e999", keys.Value{}},
		{keys.KindFloat, "+1", keys.Value{}},
		{keys.KindFloat, " 1", keys.Value{}},
		{keys.KindFloat, "null", keys.Value{}},
		{keys.KindFloat, "", keys.Value{}},
		{keys.KindInt, "-10", keys.Int(-10)},
		{keys.KindInt, "+10", keys.Value{}},
		{keys.KindInt, "1.0", keys.Value{}},
		{keys.KindBoolean, "true", keys.Boolean(true)},
		{keys.KindBoolean, "TRUE", keys.Value{}},
	} {
		got, ok := parseValue(test.kind, test.text)
		if ok != test.want.Present() || ok && got != test.want {
			t.Errorf("%v %q is read as %v, %t", test.kind, test.text, got, ok)
		}
	}
}
