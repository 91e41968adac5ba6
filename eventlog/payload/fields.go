package payload

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog/internal/scan"
)

// found is the value of a field, as the message has it.
type found struct {
	raw []byte // nil where there is none
	err error  // why it cannot be told
}

// find returns the value at each path in an object.
func find(body []byte, paths [][]string) ([]found, error) {
	all := make([]found, len(paths))
	if len(paths) == 0 {
		return all, nil
	}
	if err := members(body, all, paths); err != nil {
		return all, err
	}
	for i := range all {
		if f := &all[i]; f.raw != nil && f.err == nil && len(paths[i]) > 1 {
			*f = within(f.raw, paths[i][1:])
		}
	}
	return all, nil
}

// within is the value at a path in a value.
func within(value []byte, path []string) (f found) {
	if string(value) == "null" {
		return f
	}
	all, err := find(value, [][]string{path})
	if err != nil {
		return found{err: err}
	}
	return all[0]
}

// members finds the members of an object that the paths begin with. They are read once, however many paths there are.
func members(body []byte, all []found, paths [][]string) error {
	var s scan.Scanner
	s.Reset(body)
	if s.Kind() != scan.Object {
		return fmt.Errorf("want an object, got %s", s.Kind())
	}
	if err := s.Open('{'); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	for first := true; ; first = false {
		more, err := s.More(first, '}')
		if err == nil && !more {
			err = s.End()
		}
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		if !more {
			return nil
		}
		name, err := s.Name()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		value, err := s.Skip()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		for i, path := range paths {
			switch {
			case string(name) != path[0]:
			case all[i].raw != nil:
				all[i].err = fmt.Errorf("%q is given twice", path[0])
			default:
				all[i].raw = value
			}
		}
	}
}

// text returns what a text, a number or a boolean says, "" for none and for null; and whether it is a number.
func (f *found) text() (text string, number bool, err error) {
	if f.err != nil || f.raw == nil {
		return "", false, f.err
	}
	var s scan.Scanner
	s.Reset(f.raw)
	switch k := s.Kind(); k {
	case scan.String:
		b, err := s.Text()
		return string(b), false, err
	case scan.Number, scan.Boolean:
		return string(f.raw), k == scan.Number, nil
	case scan.Null:
		return "", false, nil
	default:
		return "", false, fmt.Errorf("want a text, a number or a boolean, got %s", k)
	}
}

var errMissing = errors.New("required, but missing")
