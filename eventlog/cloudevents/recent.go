package cloudevents

// recent are values that events had lately. A log has few sources, types and schemas, and the events that are kept of it
// share their strings.
type recent [32]string

// text is the string of a value.
func (r *recent) text(value []byte) string {
	if r == nil || len(value) == 0 {
		return string(value)
	}
	last := &r[(len(value)+7*int(value[len(value)/2])+31*int(value[len(value)-1]))%len(r)]
	if *last != string(value) {
		*last = string(value)
	}
	return *last
}
