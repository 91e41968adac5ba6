package eventlog

// Type is a declared event type: what its data must look like. Types are generated from events.graphqls.
type Type struct {
	Name string
	// Retired says that no more events of the type are taken; those that a log has are known, and nothing is made of
	// them. Such a type has neither Check nor Tags.
	Retired bool
	// Check decodes the data. It returns a *FieldError for the first thing that is wrong or, where nothing is, some of the
	// fields that the data have and the type does not declare: nobody reads those.
	Check func(data []byte) (undeclared []string, err error)
	// Former are what Check was in the versions before, the first first: see [Type.CheckEvent].
	Former []func(data []byte) (undeclared []string, err error)
	// Tags returns the "field:value" tags of the event: fields marked @partitionTag or @tag.
	Tags func(data []byte) ([]string, error)
}

// MaxUndeclared is how many undeclared fields are named at most, of an event or of several.
const MaxUndeclared = 20

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
