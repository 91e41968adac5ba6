package keys

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Decimal is an exact decimal number in canonical text: plain notation, no exponent, no leading or trailing zeros
// beyond the one that a number needs, no negative zero. The empty Decimal is zero.
type Decimal string

// ParseDecimal reads decimal text ("12.50", "-3e2") into canonical form; it fails where s is not a number or has more
// than 999 integer or 999 fraction digits.
func ParseDecimal(s string) (Decimal, error) {
	canonical, err := encoding.CanonicalDecimal(s)
	if err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	return Decimal(canonical), nil
}

// Rat returns the number for arithmetic. Text that is no number, which only a conversion can make a Decimal, is zero.
func (d Decimal) Rat() *big.Rat {
	r := new(big.Rat)
	if canonical, err := ParseDecimal(d.String()); err == nil {
		r.SetString(string(canonical))
	}
	return r
}

// String returns the canonical text, "0" for the empty Decimal.
func (d Decimal) String() string {
	if d == "" {
		return "0"
	}
	return string(d)
}

// MarshalText returns the canonical text, as String does: also the empty Decimal is read back as zero.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Date is a calendar date, "2024-01-15".
type Date string

// ParseDate reads a calendar date; it fails where s is not one ("2024-02-30").
func ParseDate(s string) (Date, error) {
	if !encoding.IsDate(s) {
		return "", fmt.Errorf("keys: %q is not a calendar date like 2024-01-15", s)
	}
	return Date(s), nil
}

// ParseDateTime reads an RFC 3339 date-time of any offset with up to nine fraction digits and returns it in UTC. It
// fails for anything else, including a leap second and years that UTC puts outside 0000 to 9999.
func ParseDateTime(s string) (time.Time, error) {
	p, ok := encoding.ParseTime(s)
	if !ok || !p.Complete() {
		return time.Time{}, fmt.Errorf("keys: %q is not an RFC 3339 date-time like 2024-01-15T10:30:00.123Z",
			strings.Clone(s)) // s itself stays where the caller has it
	}
	t := p.Start()
	if !encoding.InYears(t) {
		return time.Time{}, fmt.Errorf("keys: date-time %q is outside the years 0000 to 9999 in UTC", strings.Clone(s))
	}
	return t, nil
}

// AppendDateTime appends the instant as the API shows it: UTC, RFC 3339, at least three fraction digits,
// "2024-01-15T10:30:00.123Z", "2024-01-15T10:30:00.123456Z". (In a key the finer digits follow the Z.)
func AppendDateTime(dst []byte, t time.Time) []byte {
	return encoding.AppendDateTime(dst, t)
}
