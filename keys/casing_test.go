package keys

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLettersAreCasedAsUnicodeSays(t *testing.T) {
	tests := []struct{ text, lower, upper string }{
		{"Emp-Alice", "emp-alice", "EMP-ALICE"},
		{"Größe", "größe", "GRÖSSE"},
		{"ﬁnal ŉ", "ﬁnal ŉ", "FINAL ʼN"},
		{"İstanbul", "i\u0307stanbul", "İSTANBUL"},
		{"ısı", "ısı", "ISI"},
		{"ΟΔΟΣ", "οδος", "ΟΔΟΣ"},
		{"ΟΔΟΣ'", "οδος'", "ΟΔΟΣ'"},
		{"ΟΔΟΣ'Α Σ", "οδοσ'α σ", "ΟΔΟΣ'Α Σ"},
		{"ᾳ ǅ", "ᾳ ǆ", "ΑΙ Ǆ"},
		{"東京 😀 1_#", "東京 😀 1_#", "東京 😀 1_#"},
		{"a\xffB\xe2\x82", "a\xffb\xe2\x82", "A\xffB\xe2\x82"},
		{"", "", ""},
	}
	for _, test := range tests {
		if got := CasingLower.Apply(test.text); got != test.lower {
			t.Errorf("lower case of %+q is %+q, want %+q", test.text, got, test.lower)
		}
		if got := CasingUpper.Apply(test.text); got != test.upper {
			t.Errorf("upper case of %+q is %+q, want %+q", test.text, got, test.upper)
		}
		if got := CasingNone.Apply(test.text); got != test.text {
			t.Errorf("%+q becomes %+q in no casing", test.text, got)
		}
	}
}

func TestTextInACasingStaysAsItIsUnderIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Casing{CasingNone, CasingLower, CasingUpper}).Draw(t, "casing")
		text := c.Apply(texts().Draw(t, "text"))
		if again := c.Apply(text); again != text {
			t.Fatalf("%+q becomes %+q", text, again)
		}
	})
}
