package eventlog

// Redecoder is a source that can read a malformed event again from what it has delivered of it, also when it has
// forgotten the event. Another bound, another mapping or another version of the program may make an event of it, which
// a copy of the source has as malformed.
type Redecoder interface {
	// Redecode reads the event again from its Data and Envelope, and returns it as a Read would deliver it now, malformed
	// or not. It stands where it did. Where the two do not suffice, the event stays as it is.
	Redecode(e Event) Event
}

// Redecode reads a malformed event again that the source has delivered once. It stays as it is where neither the source
// nor one that it wraps is a Redecoder.
func Redecode(src Source, e Event) Event {
	for {
		if r, is := src.(Redecoder); is {
			return r.Redecode(e)
		}
		w, is := src.(Wrapper)
		if !is {
			return e
		}
		src = w.Unwrap()
	}
}
