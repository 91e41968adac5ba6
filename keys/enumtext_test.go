package keys

import (
	"errors"
	"testing"
)

// TestTextOfAHalfHasOnlyValuesOfItsEnums, whether the stored keys are composed by the layout or by a former one.
func TestTextOfAHalfHasOnlyValuesOfItsEnums(t *testing.T) {
	layout := Layout{Sep: "_", Segments: []Segment{{Field: "shop", Kind: KindString}, {Field: "state", Kind: KindString}}}
	former := layout
	former.Sep = "/"
	for _, stored := range []Layout{layout, former} {
		c, ok := NewComposer(layout, stored)
		if !ok {
			t.Fatal("the keys say other things")
		}
		c.Enums = [][]string{nil, {"OPEN", "IN_REVIEW"}}
		for text, valid := range map[string]bool{
			"s_OPEN": true, "s_IN%5FREVIEW": true, "s_IN%5FREVIE": false, "s_open": false, "s_": false,
		} {
			_, err := c.ParseKey("id", text)
			if operand := (*OperandError)(nil); err == nil != valid || err != nil && !errors.As(err, &operand) {
				t.Errorf("id %q: %v, want it valid: %v", text, err, valid)
			}
			for name, o := range map[string]Operands{"eq": {Eq: &text}, "from": {From: &text}, "to": {To: &text}} {
				_, err := c.ParseOperands(o)
				if errors.Is(err, ErrFormerLayout) {
					continue
				}
				valid := valid || name != "eq" && text == "s_" // all states of the shop, as of numbers
				if operand := (*OperandError)(nil); err == nil != valid || err != nil && !errors.As(err, &operand) {
					t.Errorf("%s %q: %v, want it valid: %v", name, text, err, valid)
				}
			}
		}
		for text, valid := range map[string]bool{"s_OP": true, "s_IN%5F": true, "s_": true, "s_X": false} {
			_, err := c.ParseOperands(Operands{Prefix: &text})
			if operand := (*OperandError)(nil); err == nil != valid || err != nil && !errors.As(err, &operand) {
				t.Errorf("prefix %q: %v, want it valid: %v", text, err, valid)
			}
		}
	}
}
