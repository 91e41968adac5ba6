package projectiontest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb/driver"
)

// difference is a place where two results differ: the row, and the path in it.
type difference struct {
	at     string
	fields []driver.Field // of the values, where they are objects
	a, b   reflect.Value  // the zero Value where there is none
	noun   string         // of what they are values, where at does not tell
}

// text is that of one of its values.
func (d *difference) text(v reflect.Value) string {
	switch {
	case d.noun == "":
		return textOf(v, d.fields)
	case v.IsValid():
		return d.noun + " " + textOf(v, d.fields)
	}
	return "no " + d.noun
}

// mostDifferences bounds how many differences a failed test shows.
const mostDifferences = 20

// showDifferences names each difference in a line, with both values. The words say which is which.
func showDifferences(all []difference, a, b string) string {
	var text strings.Builder
	for i, d := range all {
		if i == mostDifferences {
			fmt.Fprintf(&text, "  and in %d other places\n", len(all)-i)
			break
		}
		fmt.Fprintf(&text, "  %s: %s %s, %s %s\n", d.at, a, d.text(d.a), b, d.text(d.b))
	}
	return text.String()
}

// rowDifferences are those between the rows of a model, which are told apart by their keys.
func rowDifferences(of Rows, a, b []any, options []gocmp.Option) []difference {
	var all []difference
	fields := of.model().Fields
	for _, name := range namesOf(of, a, b) {
		x, y := named(of, a, name), named(of, b, name)
		for i := range max(len(x), len(y)) {
			switch { // one of them is all that a result can have; who wants more sees it
			case i >= len(x):
				all = append(all, difference{at: name, fields: fields, b: reflect.ValueOf(y[i])})
			case i >= len(y):
				all = append(all, difference{at: name, fields: fields, a: reflect.ValueOf(x[i])})
			default:
				for _, d := range valueDifferences(x[i], y[i], fields, options) {
					d.at = strings.TrimSuffix(name+": "+strings.TrimPrefix(d.at, "."), ": ")
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// letterDifferences are those between lists of dead letters, which are in order.
func (s *testCase) letterDifferences(a, b []DeadLetter) []difference {
	var all []difference
	ofEvent := func(letters []DeadLetter, id string) (reason reflect.Value) {
		if i := slices.IndexFunc(letters, func(l DeadLetter) bool { return l.ID == id }); i >= 0 {
			return reflect.ValueOf(letters[i].Reason)
		}
		return reflect.Value{}
	}
	for i, l := range slices.Concat(a, b) {
		if i >= len(a) && ofEvent(a, l.ID).IsValid() {
			continue
		}
		x, y := ofEvent(a, l.ID), ofEvent(b, l.ID)
		if !x.IsValid() || !y.IsValid() || x.String() != y.String() {
			all = append(all, difference{at: s.eventName(l.ID), a: x, b: y, noun: "dead letter"})
		}
	}
	return all
}

// eventName names an event that is given, by its ID: event 5 (OrderPlaced).
func (s *testCase) eventName(id string) string {
	for i, e := range s.given {
		if cmp.Or(e.ID, strconv.Itoa(i+1)) == id {
			return fmt.Sprintf("event %s (%s)", id, e.Type)
		}
	}
	return "event " + id
}

// namesOf are the names of the rows, in order and each once.
func namesOf(of Rows, lists ...[]any) []string {
	var names []string
	for _, row := range slices.Concat(lists...) {
		if name := of.name(row); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func named(of Rows, rows []any, name string) []any {
	return slices.DeleteFunc(slices.Clone(rows), func(row any) bool { return of.name(row) != name })
}

// valueDifferences are those between two objects with these fields. Lists are compared element by element.
func valueDifferences(a, b any, fields []driver.Field, options []gocmp.Option) []difference {
	found := unequal{fields: fields}
	gocmp.Equal(a, b, append(slices.Clip(options), gocmp.Reporter(&found))...)
	var all []difference
	for _, p := range found.places {
		switch {
		case p.list && slices.ContainsFunc(all, func(d difference) bool { return d.at == p.at || inList(d.at, p.at) }):
		case p.list:
			all = append(all, listDifferences(p.difference, options)...)
		default:
			all = append(all, p.difference)
		}
	}
	return all
}

func inList(at, list string) bool { return strings.HasPrefix(at, list+"[") }

// listDifferences are those between two lists; d is the difference of the whole.
func listDifferences(d difference, options []gocmp.Option) []difference {
	var all []difference
	for i := range max(d.a.Len(), d.b.Len()) {
		at := fmt.Sprintf("%s[%d]", d.at, i)
		switch {
		case i >= d.a.Len():
			all = append(all, difference{at: at, fields: d.fields, b: d.b.Index(i)})
		case i >= d.b.Len():
			all = append(all, difference{at: at, fields: d.fields, a: d.a.Index(i)})
		default:
			for _, in := range valueDifferences(d.a.Index(i).Interface(), d.b.Index(i).Interface(), d.fields, options) {
				in.at = at + in.at
				all = append(all, in)
			}
		}
	}
	if len(all) == 0 { // the options find the elements different only as parts of the whole
		all = append(all, d)
	}
	return all
}

// unequal collects the places of values that differ. What is in a list is at the place of the list.
type unequal struct {
	fields []driver.Field
	path   gocmp.Path
	places []place
}

type place struct {
	difference
	list bool
}

// PushStep implements the interface that cmp.Reporter takes.
func (u *unequal) PushStep(step gocmp.PathStep) { u.path = append(u.path, step) }

// PopStep implements it.
func (u *unequal) PopStep() { u.path = u.path[:len(u.path)-1] }

// Report implements it. Steps are the same only until it returns.
func (u *unequal) Report(r gocmp.Result) {
	if !r.Equal() {
		u.places = append(u.places, u.locate())
	}
}

// locate names the place of the path, as the API does, up to the first list on the way.
func (u *unequal) locate() place {
	var at strings.Builder
	fields := u.fields
	for i, step := range u.path {
		switch step := step.(type) {
		case gocmp.StructField:
			name, within := fieldOf(fields, step.Name())
			at.WriteString("." + name)
			fields = within
		case gocmp.MapIndex:
			fmt.Fprintf(&at, ".%s", step.Key())
		case gocmp.SliceIndex:
			a, b := u.path[i-1].Values()
			return place{difference{at: at.String(), fields: fields, a: a, b: b}, true}
		}
	}
	a, b := u.path.Last().Values()
	return place{difference{at: at.String(), fields: fields, a: a, b: b}, false}
}
