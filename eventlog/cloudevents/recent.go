package cloudevents

import "hash/maphash"

// recent are values that events had lately, in sets of places: more than one event has, so that those of a log of
// events of one type never drive each other out. A log has few sources, types and schemas, and the events that are kept
// of it share their strings.
type recent [16][4]string

var seed = maphash.MakeSeed()

// text is the string of a value, which takes the place of the one of its set that came earliest.
func (r *recent) text(value []byte) string {
	if r == nil {
		return string(value)
	}
	set := &r[maphash.Bytes(seed, value)%uint64(len(r))]
	for i := range set {
		if set[i] == string(value) {
			return set[i]
		}
	}
	copy(set[1:], set[:])
	set[0] = string(value)
	return set[0]
}
