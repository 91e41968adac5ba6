// Package queryarg is the table of the arguments that generated queries take beside the fields of their keys: names,
// GraphQL types, descriptions, and which queries take them. The schema, the generator and the runtime all read it, so a
// new argument is a new line here and, in package graph, what it does to a read.
package queryarg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
)

// The number of rows of a page.
const (
	DefaultLimit = 50 // where the argument limit is left out
	MaxLimit     = 1000
)

// Names of arguments.
const (
	Consistent = "consistent"
	Only       = "only"
	Eq         = keys.OperandEq
	Prefix     = keys.OperandPrefix
	From       = keys.OperandFrom
	To         = keys.OperandTo
	FilterArg  = "filter"
	Partial    = "partial"
	Reverse    = "reverse"
	Limit      = "limit"
	NextToken  = "nextToken"
	First      = "first"
	After      = "after"
	Last       = "last"
	Before     = "before"
)

// Group says which queries take an argument.
type Group uint8

// The groups, in the order in which a query lists them.
const (
	Row        Group = iota // queries of one row
	Collection              // queries of a collection
	Operand                 // list queries with a sort key: conditions on it
	Filter                  // list queries of rows that can be filtered
	Page                    // list queries
	Cursor                  // list queries whose pages are Relay connections
)

// Values says for which values of the sort key an operand has a meaning.
type Values uint8

// The values that operands can be about.
const (
	Any     Values = iota
	Text           // values that begin with something
	Ordered        // values whose text in the key sorts as they do
)

// Argument is one argument.
type Argument struct {
	Name  string
	Group Group
	// Type is the GraphQL type, "" where it depends on the query.
	Type string
	// Description is its text in the schema; {sort key} stands for what the query calls its sort key.
	Description string
	// Excludes are the arguments that cannot be given with it.
	Excludes []string
	// About says which values an operand can be about.
	About Values
	// Typed says that a query of an entity takes the operand as a value of the field that it is about, not as text.
	Typed bool
}

// All are the arguments in the order in which a query lists them.
var All = []Argument{
	{Name: Consistent, Group: Row, Type: "Boolean",
		Description: "Whether to read what was written last, on stores where that costs extra."},
	{Name: Only, Group: Collection,
		Description: "Only rows of these types; of all where it is left out."},
	{Name: Eq, Group: Operand, Type: "String", Typed: true,
		Description: "Only rows whose {sort key} is this.", Excludes: []string{Prefix, From, To}},
	{Name: Prefix, Group: Operand, Type: "String", About: Text,
		Description: "Only rows whose {sort key} begins with this.", Excludes: []string{Eq, From, To}},
	{Name: From, Group: Operand, Type: "String", About: Ordered, Typed: true,
		Description: "Only rows whose {sort key} is this or greater.", Excludes: []string{Eq, Prefix}},
	{Name: To, Group: Operand, Type: "String", About: Ordered, Typed: true,
		Description: "Only rows whose {sort key} is this or less.", Excludes: []string{Eq, Prefix}},
	{Name: FilterArg, Group: Filter,
		Description: "Only rows for which all of this is true. It is not looked for by a key: rows are read until the page " +
			"is full."},
	{Name: Partial, Group: Filter, Type: "Boolean",
		Description: "Whether a page may be short, with a nextToken, if filling it takes reading more rows than the " +
			"server lets a request read for filters. Without it, that is an error."},
	{Name: Reverse, Group: Page, Type: "Boolean",
		Description: "Whether the greatest come first; else the least do."},
	{Name: Limit, Group: Page, Type: "Int",
		Description: fmt.Sprintf("How many rows a page has at most: 1 to %d, %d where it is left out.", MaxLimit,
			DefaultLimit)},
	{Name: NextToken, Group: Page, Type: "String",
		Description: "The nextToken of the page before; all other arguments stay the same, but for limit."},
	{Name: First, Group: Cursor, Type: "Int",
		Description: fmt.Sprintf("How many rows a page has at most, from its beginning: 1 to %d, as limit.", MaxLimit),
		Excludes:    []string{Limit, Last, Before}},
	{Name: After, Group: Cursor, Type: "String",
		Description: "Only rows that come after the edge with this cursor, such as the endCursor of the page before.",
		Excludes:    []string{NextToken, Last, Before}},
	{Name: Last, Group: Cursor, Type: "Int",
		Description: fmt.Sprintf("How many rows a page has at most, from its end: 1 to %d.", MaxLimit),
		Excludes:    []string{Limit, First, NextToken, After}},
	{Name: Before, Group: Cursor, Type: "String",
		Description: "Only rows that come before the edge with this cursor, such as the startCursor of the page after.",
		Excludes:    []string{First, NextToken, After}},
}

// Find returns the argument of a name.
func Find(name string) (a Argument, ok bool) {
	i := slices.IndexFunc(All, func(a Argument) bool { return a.Name == name })
	if i < 0 {
		return Argument{}, false
	}
	return All[i], true
}

// Names returns the names of the arguments of some groups.
func Names(groups ...Group) []string {
	var names []string
	for _, a := range All {
		if slices.Contains(groups, a.Group) {
			names = append(names, a.Name)
		}
	}
	return names
}

// GoName is the name of the Go field that holds the argument.
func (a Argument) GoName() string { return strings.ToUpper(a.Name[:1]) + a.Name[1:] }
