package encoding

import "time"

// PartialTime is a date-time that may be partial, as it was written: as many fields as were given, and perhaps an
// offset.
type PartialTime struct {
	year, month, day, hour, minute, second int
	nanos                                  int
	Fields                                 int // how many of year … second were given
	fraction                               int // how many fraction digits were given
	offset                                 int // seconds east of UTC
	zoned                                  bool
}

// ParseTime reads a year, a month, a day, an hour, a minute, a second or a fraction of one, each with or without Z or
// an offset. ok is false for anything else, and for a date or a time that does not exist.
func ParseTime(s string) (c PartialTime, ok bool) {
	at := c.date(s)
	if c.Fields == 3 && at < len(s) && (s[at] == 'T' || s[at] == 't') {
		n := c.time(s[at+1:])
		if n == 0 {
			return c, false
		}
		at += 1 + n
	}
	return c, c.Fields > 0 && c.zone(s[at:])
}

// date reads as much of 2006-01-02 as s begins with and returns how long that is. No field is taken that is out of
// its range.
func (c *PartialTime) date(s string) int {
	var ok bool
	if c.year, ok = digits(s, 0, 4); !ok {
		return 0
	}
	c.Fields, c.month, c.day = 1, 1, 1
	month, ok := digits(s, 5, 2)
	if !ok || s[4] != '-' || month < 1 || month > 12 || DigitAt(s, 7) {
		return 4
	}
	c.Fields, c.month = 2, month
	day, ok := digits(s, 8, 2)
	if !ok || s[7] != '-' || day < 1 || day > daysIn(c.year, month) {
		return 7
	}
	c.Fields, c.day = 3, day
	return 10
}

// time reads as much of 15:04:05.999999999 as s begins with and returns how long that is, 0 where it is no time.
func (c *PartialTime) time(s string) int {
	var ok bool
	if c.hour, ok = digits(s, 0, 2); !ok || c.hour > 23 {
		return 0
	}
	c.Fields = 4
	if len(s) == 2 || s[2] != ':' {
		return 2
	}
	if c.minute, ok = digits(s, 3, 2); !ok || c.minute > 59 {
		return 0
	}
	c.Fields = 5
	if len(s) == 5 || s[5] != ':' {
		return 5
	}
	if c.second, ok = digits(s, 6, 2); !ok || c.second > 59 {
		return 0
	}
	c.Fields = 6
	if len(s) == 8 || s[8] != '.' {
		return 8
	}
	return 8 + c.fractionOf(s[8:])
}

// fractionOf reads "." and up to nine digits; of a longer fraction it leaves the rest unread, which is then no zone.
func (c *PartialTime) fractionOf(s string) int {
	unit := int(time.Second)
	for c.fraction < 9 && DigitAt(s, c.fraction+1) {
		unit /= 10
		c.nanos += int(s[c.fraction+1]-'0') * unit
		c.fraction++
	}
	if c.fraction == 0 {
		return 0
	}
	return 1 + c.fraction
}

// zone reads nothing, Z or an offset, to the end of s.
func (c *PartialTime) zone(s string) bool {
	if s == "" {
		return true
	}
	c.zoned = true
	if s == "Z" || s == "z" {
		return true
	}
	if len(s) != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' {
		return false
	}
	hours, ok := digits(s, 1, 2)
	minutes, also := digits(s, 4, 2)
	if !ok || !also || hours > 23 || minutes > 59 {
		return false
	}
	c.offset = hours*3600 + minutes*60
	if s[0] == '-' {
		c.offset = -c.offset
	}
	return true
}

// Complete reports whether the text names an instant: it has seconds and an offset, as RFC 3339 wants it.
func (c *PartialTime) Complete() bool { return c.Fields == 6 && c.zoned }

// Start returns the instant, or the first one of the period, in UTC.
func (c *PartialTime) Start() time.Time {
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nanos, time.UTC)
	return t.Add(-time.Duration(c.offset) * time.Second)
}

// End returns the first instant after the period.
func (c *PartialTime) End() time.Time {
	t := c.Start()
	switch c.Fields {
	case 1:
		return t.AddDate(1, 0, 0)
	case 2:
		// The period is a month of the writer's own calendar; where that begins in UTC changes nothing of its length.
		return t.AddDate(0, 0, daysIn(c.year, c.month))
	case 3:
		return t.AddDate(0, 0, 1)
	case 4:
		return t.Add(time.Hour)
	case 5:
		return t.Add(time.Minute)
	}
	unit := time.Second
	for range c.fraction {
		unit /= 10
	}
	return t.Add(unit)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// digits reads n decimal digits at i.
func digits(s string, i, n int) (v int, ok bool) {
	if len(s) < i+n {
		return 0, false
	}
	for _, c := range []byte(s[i : i+n]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

// DigitAt reports whether s has an ASCII digit at the byte i; it has none behind its end.
func DigitAt(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// IsDate reports whether s is a calendar date.
func IsDate(s string) bool {
	var p PartialTime
	return p.date(s) == len(s) && p.Fields == 3
}

// ParsePartialDate reads a date, a month or a year.
func ParsePartialDate(s string) (c PartialTime, ok bool) {
	ok = c.date(s) == len(s) && c.Fields > 0
	return c, ok
}
