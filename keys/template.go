package keys

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Template is a key half as its author writes it, "team#{teamId}#member#{n:16}", read into its parts: literals and
// fields in braces, joined with "#". [ParseTemplate] reads one, [Template.Layout] composes keys by it.
type Template []TemplatePart

// TemplatePart is what stands between two separators of a template: a literal or a field.
type TemplatePart struct {
	Literal string // "" for a field
	Field   string // "" for a literal
	Padded  bool   // {n:16}: a number has Digits integer digits at least, and sorts as a number
	Digits  int
}

// String is the part as the template has it.
func (p TemplatePart) String() string {
	switch {
	case p.Field == "":
		return p.Literal
	case p.Padded:
		return "{" + p.Field + ":" + strconv.Itoa(p.Digits) + "}"
	}
	return "{" + p.Field + "}"
}

// TemplateError reports why a template is invalid.
type TemplateError struct {
	Template string
	Problems []string // each a predicate: "has an empty part"
}

func (e *TemplateError) Error() string {
	return fmt.Sprintf("keys: the template %q %s: join literals and {field}s with %s, such as user#{id}", e.Template,
		strings.Join(e.Problems, ", and "), entitySep)
}

var (
	fieldPattern   = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)(?::([0-9]{1,3}))?\}$`)
	literalPattern = regexp.MustCompile(`^[ -$&-z|~]+$`) // printable ASCII but for % { }
)

// ParseTemplate reads a template. Where parts of it are wrong it fails with a [*TemplateError] that names them all, and
// returns the others.
func ParseTemplate(text string) (Template, error) {
	var t Template
	var problems []string
	for part := range strings.SplitSeq(text, entitySep) {
		field := fieldPattern.FindStringSubmatch(part)
		switch {
		case field != nil:
			digits, _ := strconv.Atoi(field[2]) // three digits at most
			t = append(t, TemplatePart{Field: field[1], Padded: field[2] != "", Digits: digits})
		case part == "":
			problems = append(problems, "has an empty part")
		case literalPattern.MatchString(part):
			t = append(t, TemplatePart{Literal: part})
		case strings.ContainsAny(part, "{}"):
			problems = append(problems, fmt.Sprintf("has %q, which is neither a literal nor one {field}", part))
		default:
			problems = append(problems, fmt.Sprintf("has %q, which holds %% or a character beyond printable ASCII", part))
		}
	}
	if problems != nil {
		return t, &TemplateError{text, problems}
	}
	return t, nil
}

// maxTemplateDigits is more than any key has room for.
const maxTemplateDigits = 99

// Layout returns the layout that composes keys by the template, with literals and values in the casing. kind returns
// the kind of a field, 0 where there is no such field. A number that is not padded stands in the key as it is. Layout
// fails where a field does not exist or cannot be padded so.
func (t Template) Layout(casing Casing, kind func(field string) Kind) (Layout, error) {
	l := Layout{Sep: entitySep, Casing: casing}
	var literals []string
	for _, part := range t {
		if part.Field == "" {
			literals = append(literals, casing.Apply(part.Literal))
			continue
		}
		segment, err := part.segment(kind(part.Field))
		if err != nil {
			return Layout{}, fmt.Errorf("keys: template: %s: %w", part, err)
		}
		if joined := strings.Join(literals, entitySep); len(l.Segments) == 0 {
			l.Head = joined
		} else if joined != "" {
			segment.Before = joined + entitySep
		}
		l.Segments, literals = append(l.Segments, segment), nil
	}
	rest := strings.Join(literals, entitySep)
	if len(l.Segments) == 0 {
		l.Head = rest
	} else {
		l.Tail = rest
	}
	return l, nil
}

func (p TemplatePart) segment(kind Kind) (Segment, error) {
	s := Segment{Field: p.Field, Kind: kind, Digits: p.Digits}
	switch {
	case kind == 0:
		return s, fmt.Errorf("there is no field %q that can be part of a key", p.Field)
	case p.Padded && !kind.isNumber():
		return s, fmt.Errorf("field %s is no number and has no digits to pad: write {%s}", p.Field, p.Field)
	case p.Padded && (p.Digits < 1 || p.Digits > maxTemplateDigits):
		return s, fmt.Errorf("%d is no number of digits: give 1 to %d", p.Digits, maxTemplateDigits)
	case !p.Padded && kind.isNumber():
		s.Digits = Unpadded
	}
	return s, nil
}
