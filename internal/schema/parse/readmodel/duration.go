package readmodel

import (
	"regexp"
	"strconv"
	"time"
)

var durationPattern = regexp.MustCompile(
	`^P(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?$`)

const day = 24 * time.Hour

// maxDuration is the longest that is read.
const maxDuration = 36_525 * day

// parseDuration reads a duration of ISO 8601 that is as long at any time: one of weeks, days, hours, minutes and
// seconds. ok is false where it is none, or is not positive.
func parseDuration(text string) (sum time.Duration, ok bool) {
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'T' {
		return 0, false
	}
	for i, unit := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n > int64(maxDuration/unit) {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, 0 < sum && sum <= maxDuration
}
