package keys

import "time"

// Date is a calendar date, "2024-01-15".
type Date string

// ParseDate reads a calendar date; it fails where s is not one ("2024-02-30").
func ParseDate(s string) (Date, error) { panic("keys: to be written") }

// ParseDateTime reads an RFC 3339 date-time of any offset with up to nine fraction digits and returns it in UTC. It
// fails for anything else, a leap second and years that UTC puts outside 0000 to 9999 among it.
func ParseDateTime(s string) (time.Time, error) { panic("keys: to be written") }

// AppendDateTime appends the instant as the API shows it: UTC, RFC 3339, at least three fraction digits,
// "2024-01-15T10:30:00.123Z", "2024-01-15T10:30:00.123456Z". (In a key the finer digits follow the Z.)
func AppendDateTime(dst []byte, t time.Time) []byte { panic("keys: to be written") }
