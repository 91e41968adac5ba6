package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Diagnostic is one thing that is wrong with a schema, or worth a warning.
type Diagnostic struct {
	Pos     Pos
	Type    string // "" where it concerns no type
	Field   string // "" where it concerns no field
	Message string
	Fix     string // what to do about it
	Warning bool
	Code    string // short and stable
}

func (d Diagnostic) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", d.Pos)
	if d.Warning {
		b.WriteString("warning: ")
	}
	switch {
	case d.Type != "" && d.Field != "":
		fmt.Fprintf(&b, "type %s, field %s: ", d.Type, d.Field)
	case d.Type != "":
		fmt.Fprintf(&b, "type %s: ", d.Type)
	}
	fmt.Fprintf(&b, "%s (fix: %s)", d.Message, d.Fix)
	return b.String()
}

// String is "file:line:column".
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Diagnostics is all that was found, in order of position.
type Diagnostics []Diagnostic

// Error writes one finding a line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Errors returns the findings that are not warnings.
func (ds Diagnostics) Errors() Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool { return d.Warning })
}

// Err returns the errors among the findings as one error, nil where there are warnings at most.
func (ds Diagnostics) Err() error {
	if errs := ds.Errors(); len(errs) > 0 {
		return errs
	}
	return nil
}
