package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// Template reads the template of a key half, such as "team#{teamId}#member#{userId}": literals and attributes in braces,
// joined with "#". kind returns the scalar kind of a field, 0 where there is no such field. A number stands in the key
// as it is; "{n:16}" gives it that many integer digits at least, and its order. The literals get the casing, and the
// layout composes values in it. The error says what is wrong with the template.
func Template(text string, casing Casing, kind func(field string) Kind) (Layout, error) {
	l := Layout{Sep: entitySep, Casing: casing}
	var literals []string
	for _, part := range strings.Split(text, entitySep) {
		attribute, ok := strings.CutPrefix(part, "{")
		if !ok {
			if part == "" || strings.ContainsAny(part, "{}") {
				return Layout{}, fmt.Errorf("keys: template %q: %q is neither a literal nor one attribute such as {id}: "+
					"separate them with %s", text, part, entitySep)
			}
			literals = append(literals, casing.Text(part))
			continue
		}
		segment, err := templateAttribute(attribute, kind)
		if err != nil {
			return Layout{}, fmt.Errorf("keys: template %q: %w", text, err)
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
		return Layout{Head: rest}, nil
	}
	l.Tail = rest
	return l, nil
}

// maxDigits of a template's number; more no key has room for, nor any number.
const maxTemplateDigits = 99

// templateAttribute reads "id}" or "n:16}".
func templateAttribute(text string, kind func(string) Kind) (Segment, error) {
	inside, ok := strings.CutSuffix(text, "}")
	field, digits, padded := strings.Cut(inside, ":")
	s := Segment{Field: field, Kind: kind(field)}
	if !ok || strings.ContainsAny(inside, "{}") {
		return s, fmt.Errorf("{%s is not one attribute such as {id}: separate attributes with %s", text, entitySep)
	}
	switch s.Kind {
	case 0:
		return s, fmt.Errorf("{%s}: there is no field %q that can be part of a key", inside, field)
	case KindInt, KindFloat, KindDecimal:
		s.Digits = Unpadded
	default:
		if padded {
			return s, fmt.Errorf("{%s}: field %s is no number and has no digits to pad: write {%s}", inside, field, field)
		}
	}
	if padded {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxTemplateDigits {
			return s, fmt.Errorf("{%s}: %q is no number of digits: give 1 to %d", inside, digits, maxTemplateDigits)
		}
		s.Digits = n
	}
	return s, nil
}
