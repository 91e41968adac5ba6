package schema

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
