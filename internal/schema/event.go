package schema

import "slices"

// EventType is an event, or an object inside of one.
type EventType struct {
	Name        string
	Description string
	Was         []string // former names of an event, under which it is read too; the oldest first
	Fields      []*EventField
	Gone        []string `json:",omitempty"` // fields that were added to the type later, and removed again
	Pos         Pos
}

// Names are all names under which a log has events of the type, the present one first.
func (t *EventType) Names() []string { return append([]string{t.Name}, t.Was...) }

// FirstName is the oldest name of the type.
func (t *EventType) FirstName() string { return first(t.Was, t.Name) }

// FirstName is the oldest name of the field.
func (f *EventField) FirstName() string { return first(f.Was, f.Name) }

func first(was []string, now string) string {
	if len(was) > 0 {
		return was[0]
	}
	return now
}

// EventNamed finds an event that is in use by its name, nil for none.
func (m *Model) EventNamed(name string) *EventType {
	i := slices.IndexFunc(m.Events, func(t *EventType) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return m.Events[i]
}

// EventField is a field of an event.
type EventField struct {
	Name         string
	Description  string
	Scalar       string // as Field.Scalar; "" for an object
	Enum         string
	Object       *EventType // one of Model.Values or Model.Events
	List         bool
	Nullable     bool
	ElemNullable bool
	PartitionTag bool
	Tag          bool
	Was          []string `json:",omitempty"` // former names, under which it is read too; the oldest first
	Default      string   `json:",omitempty"` // JSON of the value of events without it; "" for none
	// Added stands for what the field was when its type got it, if a log could have events of the type by then; "" for
	// a field that was there from the first. Events of before lack it.
	Added string `json:",omitempty"`
	// AsAdded says that the field still is what it was then: to rows it is as if it were not there.
	AsAdded bool `json:",omitempty"`
	Pos     Pos
}
