// Package schema reads the annotated SDL of a project into one Model, or says what is wrong with it, where, and how to
// mend it.
package schema

// Model is a whole project as the annotations describe it: its read models and its events.
type Model struct {
	ReadModels []*ReadModel // in order of declaration
	Enums      []*Enum      // enums used by read models, in order of declaration
	Events     []*EventType
	EventEnums []*Enum
	Values     []*EventType // object types used inside of events, and not events themselves
}

// Pos is where a declaration stands.
type Pos struct {
	File         string
	Line, Column int
}

// Enum is an enum type.
type Enum struct {
	Name        string
	Description string
	Values      []string
}

// ReadModel is a type with @readModel or @stateView.
type ReadModel struct {
	Name        string
	Description string
	Plugin      string
	Table       string // default: Name
	StateView   bool   // @stateView rather than @readModel
	Events      []string
	Stream      string
	Tags        []string
	Projector   string // default: Name
	Atomic      bool
	Version     int
	Fields      []*Field // stored, in order of declaration
	Joins       []*Join  // virtual, in order of declaration of the fields they hang on
	PK, SK      Half
	CompositePK bool // @compositeId
	CompositeSK bool // @compositeSubId: the API calls the sort key _subId
	Indexes     []*Index
	TTL         *Field
	CreatedAt   *Field
	UpdatedAt   *Field
	Owner       *Field
	Auth        *Auth
	Pos         Pos
}

// Field is a stored field.
type Field struct {
	Name        string
	Description string
	Deprecated  *string // reason
	Ordinal     int
	Scalar      string // ID String Boolean Int Int64 Float Decimal Date DateTime; String for an enum
	Enum        string // name of the enum
	List        bool
	Nullable    bool
	Auth        *Auth
	Pos         Pos
}

// Half is one half of a key.
type Half struct {
	Fields []*Field
	Sep    string
}

// Index is a secondary index.
type Index struct {
	Name       string
	Unnamed    bool // @index without a name: Name is the field's
	PK, SK     Half
	Projection string // ALL KEYS_ONLY INCLUDE
	Include    []*Field
	Group      string
	AuthTable  *ReadModel
	Pos        Pos
}

// Join is a virtual field.
type Join struct {
	Name   string
	Source *Field
	Target *ReadModel
	Many   bool
	Via    *Index // nil: by primary key
	Auth   *Auth  // of Source: who may not read the id may not read what it leads to
	Pos    Pos
}

// Auth is @auth.
type Auth struct {
	Groups []string
	Owner  bool
}

// EventType is an event, or an object inside of one.
type EventType struct {
	Name        string
	Description string
	Fields      []*EventField
	Pos         Pos
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
	Pos          Pos
}
