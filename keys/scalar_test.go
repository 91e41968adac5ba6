package keys

import (
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestDecimalsAreReadIntoCanonicalText(t *testing.T) {
	nines := strings.Repeat("9", 999)
	tests := []struct{ text, want string }{
		{"0", "0"}, {"-0", "0"}, {"-0.00e7", "0"}, {"0e99999999999999999999", "0"}, {"000", "0"},
		{"12.50", "12.5"}, {"12.5", "12.5"}, {"-12.5", "-12.5"}, {"007", "7"}, {"0.5", "0.5"}, {"100", "100"},
		{"-3e2", "-300"}, {"1E+3", "1000"}, {"12.5e-1", "1.25"}, {"125e-5", "0.00125"}, {"0.00125e5", "125"},
		{"1.5e3", "1500"}, {"1e998", "1" + strings.Repeat("0", 998)}, {"1e-999", "0." + strings.Repeat("0", 998) + "1"},
		{nines + "." + nines, nines + "." + nines}, {strings.Repeat("0", 2000) + "1", "1"},
	}
	for _, test := range tests {
		if got, err := ParseDecimal(test.text); err != nil || string(got) != test.want {
			t.Errorf("ParseDecimal(%.40q) = %.40q, %v, want %.40q", test.text, got, err, test.want)
		}
	}
}

func TestWhatIsNoDecimalIsRefused(t *testing.T) {
	for _, s := range []string{"", "-", "+1", ".5", "5.", "1e", "1e+", "1.e3", "1e1.5", "0x10", "1_000", "NaN", "Infinity",
		" 1", "1 ", "١", "--1", "1e999", "1e-1000", "1e99999999999999999999", "-1e-99999999999999999999",
		strings.Repeat("9", 1000)} {
		if got, err := ParseDecimal(s); err == nil {
			t.Errorf("ParseDecimal(%.40q) = %.40q, want an error", s, got)
		}
	}
}

func TestTheEmptyDecimalIsZero(t *testing.T) {
	if d := Decimal(""); d.String() != "0" || d.Rat().Sign() != 0 {
		t.Errorf("the empty decimal is %q, %v", d.String(), d.Rat())
	}
	if r := Decimal("1e999999999").Rat(); r.Sign() != 0 {
		t.Errorf("text that is no decimal is %v", r)
	}
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"12.50", "-3e2", "0.00125e5", "1e998", "-0", "1e1000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDecimal(s)
		if err != nil {
			return
		}
		if again, err := ParseDecimal(string(d)); err != nil || again != d {
			t.Fatalf("%q becomes %q, that %q, %v", s, d, again, err)
		}
		if len(s) > 100 || strings.ContainsAny(s, "eE") && len(s[strings.IndexAny(s, "eE"):]) > 5 {
			return // too large for the reference
		}
		if want, ok := new(big.Rat).SetString(s); !ok || d.Rat().Cmp(want) != 0 {
			t.Fatalf("%q becomes %q, want %v", s, d, want)
		}
	})
}

func TestDatesThatDoNotExistAreRefused(t *testing.T) {
	for _, s := range []string{"0000-01-01", "2024-02-29", "2000-02-29", "9999-12-31", "2024-11-30"} {
		if d, err := ParseDate(s); err != nil || string(d) != s {
			t.Errorf("ParseDate(%q) = %q, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "2024", "2024-01", "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01",
		"2024-00-01", "2024-01-00",
		"2024-1-1", "24-01-01", "2024-01-15T10:00", "2024-01-15Z", "-024-01-15", "2024/01/15", " 2024-01-15",
		"+12024-01-15"} {
		if d, err := ParseDate(s); err == nil {
			t.Errorf("ParseDate(%q) = %q, want an error", s, d)
		}
	}
}

func FuzzDate(f *testing.F) {
	f.Add("2024-02-29")
	f.Add("2023-02-29")
	f.Fuzz(func(t *testing.T, s string) {
		_, want := time.Parse(time.DateOnly, s)
		if _, err := ParseDate(s); (err == nil) != (want == nil) {
			t.Fatalf("ParseDate(%q): %v, want %v", s, err, want)
		}
	})
}

func TestDateTimesAreReadIntoUTC(t *testing.T) {
	tests := []struct{ text, want string }{
		{"2024-01-15T10:30:00Z", "2024-01-15T10:30:00.000Z"},
		{"2024-01-15t10:30:00.5z", "2024-01-15T10:30:00.500Z"},
		{"2024-01-15T10:30:00.123456+02:00", "2024-01-15T08:30:00.123456Z"},
		{"2024-01-15T10:30:00.123400000-00:00", "2024-01-15T10:30:00.1234Z"},
		{"2023-12-31T23:30:00.000000001-01:00", "2024-01-01T00:30:00.000000001Z"},
		{"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"},
	}
	for _, test := range tests {
		got, err := ParseDateTime(test.text)
		if err != nil || string(AppendDateTime(nil, got)) != test.want || got.Location() != time.UTC {
			t.Errorf("ParseDateTime(%q) = %s, %v, want %s", test.text, AppendDateTime(nil, got), err, test.want)
		}
	}
}

func TestWhatIsNoDateTimeIsRefused(t *testing.T) {
	for _, s := range []string{"", "2024-01-15", "2024-01-15T10:30Z", "2024-01-15T10:30:00", "2024-01-15 10:30:00Z",
		"2024-01-15T24:00:00Z",
		"2024-01-15T10:60:00Z", "2016-12-31T23:59:60Z", "2024-01-15T10:30:00.Z", "2024-01-15T10:30:00,5Z",
		"2024-01-15T10:30:00.1234567890Z",
		"2024-01-15T10:30:00+24:00", "2024-01-15T10:30:00+0200", "2024-01-15T10:30:00+02", "2024-01-15T10:30:00ZZ",
		"2024-02-30T10:30:00Z",
		"2024-01-15T1:30:00Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2024-01-15T10:30:00+02:60"} {
		if at, err := ParseDateTime(s); err == nil {
			t.Errorf("ParseDateTime(%q) = %v, want an error", s, at)
		}
	}
}

func FuzzDateTime(f *testing.F) {
	for _, s := range []string{"2024-01-15T10:30:00.123456+02:00", "2024-02-30T10:30:00Z", "2024-01-15T10:30:00.1Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseDateTime(s)
		if err != nil {
			return
		}
		want, wantErr := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
		if wantErr != nil || !at.Equal(want) {
			t.Fatalf("ParseDateTime(%q) = %v, want %v, %v", s, at, want, wantErr)
		}
		if again, err := ParseDateTime(string(AppendDateTime(nil, at))); err != nil || !again.Equal(at) {
			t.Fatalf("%q is written as %s, read as %v, %v", s, AppendDateTime(nil, at), again, err)
		}
	})
}
