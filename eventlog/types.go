package eventlog

// Type is a declared event type: what its data must look like. Types are generated from events.graphqls.
type Type struct {
	Name string
	// Retired says that no more events of the type are taken; those that a log has are known, and nothing is made of
	// them. Such a type has neither Check nor Tags.
	Retired bool
	// Check decodes the data and returns a *FieldError for the first thing that is wrong.
	Check func(data []byte) error
	// Former are what Check was in the versions before, the first first: see [Type.CheckEvent].
	Former []func(data []byte) error
	// Tags returns the "field:value" tags of the event: fields marked @partitionTag or @tag.
	Tags func(data []byte) ([]string, error)
}

// Types are the declared event types by name; a type that was renamed has its former names too.
type Types map[string]*Type

// FieldError says which field of an event's data is wrong, and how.
type FieldError struct {
	Field  string // path, "lines[2].quantity"; "" where the data as a whole are wrong
	Reason string // "want Float, got string"
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return "data: " + e.Reason
	}
	return "field " + e.Field + ": " + e.Reason
}
