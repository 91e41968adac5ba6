package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// readTemplates reads @keys.
func (d *draft) readTemplates(dir *ast.Directive) {
	casing := d.Entity.Table.templateCasing
	d.PK = d.template(dir, "pk", casing)
	d.SK = d.template(dir, "sk", casing)
	for _, o := range objectsOf(dir, "gsis") {
		x := d.newEntityIndex(o, casing)
		if x == nil {
			continue
		}
		x.PK = d.template(o, "pk", x.Casing)
		x.SK = d.template(o, "sk", x.Casing)
		d.addEntityIndex(x, o)
	}
}

var (
	placePattern   = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)(?::([0-9]{1,3}))?\}$`)
	literalPattern = regexp.MustCompile(`^[ -$&-z|~]+$`) // printable, none of % { }
)

const (
	mostTemplate = 1024 // bytes; a sort key has no more
	mostPad      = 38   // digits of a number
)

// template reads a half of a key that is written as a template; the half does not exist where the argument is left out.
func (d *draft) template(dir *ast.Directive, half, casing string) Half {
	text, given := textOf(dir, half)
	if !given {
		return Half{}
	}
	h := Half{Style: TemplateStyle, Template: text, Sep: entitySep, Casing: casing, Escape: d.Entity.Table.Escape == escapeValues}
	if len(text) > mostTemplate {
		d.report(templateForm, argumentPos(dir, half), nil, strconv.Quote(text[:32]+"…"), "is longer than any key")
		return h
	}
	for _, part := range strings.Split(text, entitySep) {
		s, wrong := d.segment(dir, half, part, casing)
		if wrong == "" && s.Field != nil && slices.Contains(h.Fields, s.Field) {
			wrong = "holds " + part + " twice"
		}
		switch {
		case wrong != "":
			d.report(templateForm, argumentPos(dir, half), nil, strconv.Quote(text), wrong)
			continue
		case s.Field != nil:
			h.Fields = append(h.Fields, s.Field)
		case s.Literal == "":
			continue // an unknown field
		}
		h.Segments = append(h.Segments, s)
	}
	return h
}

// segment reads what stands between two separators of a template. It is the zero Segment where a field is unknown.
func (d *draft) segment(dir *ast.Directive, half, part, casing string) (s Segment, wrong string) {
	place := placePattern.FindStringSubmatch(part)
	switch {
	case part == "":
		return s, "has an empty part"
	case place == nil && literalPattern.MatchString(part):
		return Segment{Literal: cased(part, casing)}, ""
	case place == nil && strings.ContainsAny(part, "{}"):
		return s, "has " + strconv.Quote(part) + ", which is neither a literal nor one {field}"
	case place == nil:
		return s, "has " + strconv.Quote(part) + ", which holds % or a character beyond printable ASCII"
	}
	f := d.compositeField(dir, half, place[1])
	if f == nil {
		return s, ""
	}
	s.Field = f
	d.readPad(dir, half, &s, place[2])
	return s, ""
}

func isNumber(scalar string) bool {
	return slices.Contains([]string{"Int", "Int64", "Float", "Decimal"}, scalar)
}

func (d *draft) readPad(dir *ast.Directive, half string, s *Segment, pad string) {
	number := isNumber(s.Field.Scalar)
	if pad == "" {
		if number && half == "sk" {
			d.report(numberUnpadded, argumentPos(dir, half), s.Field, s.Field.Name)
		}
		return
	}
	s.Pad, _ = strconv.Atoi(pad) // three digits at most
	switch {
	case s.Field.Scalar != "" && !number:
		d.report(padOfNoNumber, argumentPos(dir, half), s.Field, s.Field.Name, typeText(s.Field))
	case s.Pad < 1 || s.Pad > mostPad:
		d.report(padRange, argumentPos(dir, half), s.Field, s.Field.Name, pad, strconv.Itoa(mostPad))
	}
}
