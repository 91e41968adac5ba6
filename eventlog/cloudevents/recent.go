package cloudevents

import "hash/maphash"

// recent are values that events had lately, in pairs of places. A log has few sources, types and schemas, and the
// events that are kept of it share their strings.
type recent [64]string

var seed = maphash.MakeSeed()

// text is the string of a value, which takes the place of the one of its pair that came earlier.
func (r *recent) text(value []byte) string {
	if r == nil {
		return string(value)
	}
	at := maphash.Bytes(seed, value) % uint64(len(r))
	for _, i := range [...]uint64{at, at ^ 1} {
		if r[i] == string(value) {
			return r[i]
		}
	}
	r[at^1], r[at] = r[at], string(value)
	return r[at]
}
