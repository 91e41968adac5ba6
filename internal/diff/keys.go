package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// compareKeys compares what arguments mean that have the same names and types whatever the key is made of, and in which
// order rows come.
func compareKeys(was, now *place) []Change {
	all, sorted := compareReadings(was, now)
	all = append(all, compareNeeds(was, now)...)
	all = append(all, compareCasing(was, now)...)
	if !sorted {
		all = append(all, compareOrder(was, now)...)
	}
	return all
}

// reading is what the text of arguments is read as: values of fields.
type reading struct {
	parts []part
	sep   string // that joins the values
	// oneByOne says that each argument is a value of the first field that is not given, and not of all together.
	oneByOne bool
	// sorts says that they are the fields that rows are in the order of.
	sorts bool
}

func (r reading) String() string {
	all := partsText(r.parts)
	switch {
	case len(r.parts) < 2:
		return all
	case r.oneByOne:
		return "the first of " + all + " that is not given"
	}
	return all + " joined with " + r.sep
}

// reads reports whether it reads whatever another one read, and as the same.
func (r reading) reads(was reading) bool {
	if r.oneByOne && was.oneByOne { // what follows the fields of one of them could not be given, or is an argument
		n := min(len(r.parts), len(was.parts))
		return sameParts(r.parts[:n], was.parts[:n])
	}
	return r.sep == was.sep && sameParts(r.parts, was.parts)
}

// readTogether are names of arguments that are text, those together that are about the same.
var readTogether = [][]string{{"id"}, {"_subId"}, {schema.IDsArg}, queryarg.Names(queryarg.Operand)}

// compareReadings compares what arguments are read as. sorted is true where it says that those are read otherwise which
// are about the order of the rows.
func compareReadings(was, now *place) (all []Change, sorted bool) {
	for _, names := range readTogether {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !stays(name, was, now) })
		if len(names) == 0 {
			continue
		}
		before, wasText := was.reading(names[0])
		after, isText := now.reading(names[0])
		if !wasText || !isText || after.reads(before) {
			continue
		}
		given := strings.Join(names, ", ")
		what := fmt.Sprintf("takes %s as %s, and before as %s", given, after, before)
		all = append(all, Change{Breaking, was.at, what, "operations that give " + given})
		sorted = sorted || before.sorts
	}
	return all, sorted
}

// stays reports whether both have an argument, of one type: the API shows any other change of it.
func stays(name string, was, now *place) bool {
	before, had := was.argument(name)
	after, has := now.argument(name)
	return had && has && before.Type == after.Type
}

// reading is what an argument is read as that is one of readTogether; ok is false where it is a field of that name.
func (p *place) reading(name string) (r reading, ok bool) {
	pk, sk := p.origins[0].halves()
	model := p.origins[0].model
	switch a, _ := p.argument(name); {
	case a.Field != nil && a.Field.Name == name:
		return reading{}, false
	case name == schema.IDsArg:
		return reading{parts: partsOf(p.query.IDs)}, true
	case name == "id":
		return readingOf(pk), true
	case model.SeriesOf != nil:
		r = reading{parts: partsOf(model.SeriesOf.Series.OrderBy)}
	case model.Entity != nil:
		r = reading{parts: partsOf(p.query.Optional...), oneByOne: true}
	default:
		r = readingOf(sk)
	}
	r.sorts = true
	return r, true
}

func readingOf(h schema.Half) reading { return reading{parts: partsOf(h.Fields...), sep: h.Layout.Sep} }

// compareNeeds finds arguments that cannot be given without others any more, without which they could be before.
func compareNeeds(was, now *place) (all []Change) {
	before, after := was.needs(), now.needs()
	for _, a := range was.args {
		more := slices.DeleteFunc(after[a.Name], func(name string) bool { return slices.Contains(before[a.Name], name) })
		if len(more) == 0 || !stays(a.Name, was, now) {
			continue
		}
		without := "without " + strings.Join(more, ", ")
		all = append(all, Change{Breaking, fmt.Sprintf("%s(%s:)", was.at, a.Name), "is not taken " + without,
			"operations that give it " + without})
	}
	return all
}

// needs says of arguments that are fields of a key, and may be left out, which others they cannot be given without.
func (p *place) needs() map[string][]string {
	needs := map[string][]string{}
	together := func(fields []*schema.Field) {
		for i, f := range fields {
			needs[f.Name] = schema.FieldNames(slices.Concat(fields[:i], fields[i+1:]))
		}
	}
	inOrder := func(fields []*schema.Field) {
		for i, f := range fields {
			needs[f.Name] = schema.FieldNames(fields[:i])
		}
	}
	together(p.optional(p.query.PKParts))
	inOrder(p.optional(p.query.Optional))
	if p.isPage() {
		inOrder(p.optional(p.query.SKParts))
	} else {
		together(p.optional(p.query.SKParts))
	}
	return needs
}

// optional are those of the fields that clients may give, and need not.
func (p *place) optional(fields []*schema.Field) []*schema.Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f *schema.Field) bool {
		a, ok := p.argument(f.Name)
		return !ok || a.Required()
	})
}
