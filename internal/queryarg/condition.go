package queryarg

// Names of what combines the conditions of a filter.
const (
	FilterAnd = "and"
	FilterOr  = "or"
	FilterNot = "not"
)

// FilterCombiners are all that combine conditions.
var FilterCombiners = []string{FilterAnd, FilterOr, FilterNot}

// Names of conditions of a filter.
const (
	FilterEq         = "eq"
	FilterNe         = "ne"
	FilterLt         = "lt"
	FilterLe         = "le"
	FilterGt         = "gt"
	FilterGe         = "ge"
	FilterBetween    = "between"
	FilterIn         = "in"
	FilterBeginsWith = "beginsWith"
	FilterContains   = "contains"
	FilterExists     = "exists"
)

// Fields says on which fields there is a condition.
type Fields uint8

// The fields that conditions can be on.
const (
	SingleFields  Fields = 1 << iota // those that are no lists
	OrderedFields                    // numbers, dates, date-times and texts
	TextFields                       // ID and String
	ListFields
)

// Condition is one condition of a filter on a field.
type Condition struct {
	Name string
	On   Fields
	// List says that the condition takes a list of values.
	List        bool
	Description string
}

// Conditions are all conditions, in the order in which an input type lists them.
var Conditions = []Condition{
	{Name: FilterEq, On: SingleFields, Description: "It is this."},
	{Name: FilterNe, On: SingleFields, Description: "It has a value other than this."},
	{Name: FilterLt, On: OrderedFields, Description: "It is less than this."},
	{Name: FilterLe, On: OrderedFields, Description: "It is this or less."},
	{Name: FilterGt, On: OrderedFields, Description: "It is greater than this."},
	{Name: FilterGe, On: OrderedFields, Description: "It is this or greater."},
	{Name: FilterBetween, On: OrderedFields, List: true, Description: "It is between the first and the second of these " +
		"two, or one of them."},
	{Name: FilterIn, On: SingleFields, List: true, Description: "It is one of these."},
	{Name: FilterBeginsWith, On: TextFields, Description: "It begins with this."},
	{Name: FilterContains, On: TextFields | ListFields, Description: "It contains this: a text a part of it, a list an " +
		"element."},
	{Name: FilterExists, On: SingleFields | ListFields, Description: "Whether it has a value: true for any, false for " +
		"null."},
}

// FieldsLike says which conditions there are on a field of a scalar, which is an enum or not, and a list or not.
func FieldsLike(scalar string, enum, list bool) Fields {
	switch {
	case list:
		return ListFields
	case enum || scalar == "Boolean":
		return SingleFields
	case scalar == "ID" || scalar == "String":
		return SingleFields | OrderedFields | TextFields
	}
	return SingleFields | OrderedFields
}
