package schema

import (
	"slices"
	"strconv"
)

// EventType is an event, or an object inside of one, or what one of them was in a former version.
type EventType struct {
	Name        string
	Description string
	Was         []string // former names of an event, under which it is read too; the oldest first
	Fields      []*EventField
	Version     int          `json:",omitempty"` // of the data of an event, from 1
	Former      []*EventType `json:",omitempty"` // what an event was in the versions before, the first first
	Gone        []string     `json:",omitempty"` // fields that were added to the type later, and removed again
	Pos         Pos
}

// Names are all names under which a log has events of the type, the present one first.
func (t *EventType) Names() []string { return append([]string{t.Name}, t.Was...) }

// VersionName is the name of the type of the data of an event in one of its versions.
func (t *EventType) VersionName(version int) string { return t.Name + "V" + strconv.Itoa(version) }

// Inside are the objects in the data of the type, in all depths, each once and in order of declaration.
func (t *EventType) Inside() (all []*EventType) {
	for _, f := range t.Fields {
		if f.Object != nil {
			all = f.Object.within(all)
		}
	}
	return all
}

// within adds the type, and the objects in it, to those that are known.
func (t *EventType) within(known []*EventType) []*EventType {
	if slices.Contains(known, t) {
		return known
	}
	known = append(known, t)
	for _, f := range t.Fields {
		if f.Object != nil {
			known = f.Object.within(known)
		}
	}
	return known
}

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

// HasUpcasters reports whether there are events of several versions.
func (m *Model) HasUpcasters() bool {
	return slices.ContainsFunc(m.Events, func(t *EventType) bool { return t.Version > 1 })
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
	Deprecated   *string  `json:",omitempty"` // reason
	// Added stands for what the field was when its type got it, if a log could have events of the type by then; "" for
	// a field that was there from the first. Events of before lack it.
	Added string `json:",omitempty"`
	// AsAdded says that the field still is what it was then: to rows it is as if it were not there.
	AsAdded bool `json:",omitempty"`
	// Joined are the fields that the type had no more when this one, which it had, was given their names: events that
	// lack it and have one of them are read otherwise since.
	Joined []string `json:",omitempty"`
	Pos    Pos
}
