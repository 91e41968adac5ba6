package keys

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/keys/internal/encoding"
)

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
// fails for anything else, a leap second and years that UTC puts outside 0000 to 9999 among it.
func ParseDateTime(s string) (time.Time, error) {
	p, ok := encoding.ParseTime(s)
	if !ok || !p.Complete() {
		return time.Time{}, fmt.Errorf("keys: %q is not an RFC 3339 date-time like 2024-01-15T10:30:00.123Z", s)
	}
	t := p.Start()
	if !encoding.InYears(t) {
		return time.Time{}, fmt.Errorf("keys: date-time %q is outside the years 0000 to 9999 in UTC", s)
	}
	return t, nil
}

// AppendDateTime appends the instant as the API shows it: UTC, RFC 3339, at least three fraction digits,
// "2024-01-15T10:30:00.123Z", "2024-01-15T10:30:00.123456Z". (In a key the finer digits follow the Z.)
func AppendDateTime(dst []byte, t time.Time) []byte {
	return encoding.AppendDateTime(dst, t)
}
