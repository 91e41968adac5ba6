package data

import (
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// Check reads the data of an event as Decode does. It returns the fields that the data have and no object declares, the
// first eventlog.MaxUndeclared of them: paths without places in lists ("lines[].quantty"), each once.
func Check[T any](data []byte, read func(*Reader) T) ([]string, error) {
	var found undeclared
	if _, err := decode(data, read, &found); err != nil {
		return nil, err
	}
	return found.paths, nil
}

// undeclared are the paths of fields that are not declared.
type undeclared struct{ paths []string }

// add adds a field of the object in which the last step of the path is.
func (u *undeclared) add(path []step, name []byte) {
	if u == nil || len(u.paths) == eventlog.MaxUndeclared {
		return
	}
	var b []byte
	for _, s := range path[:len(path)-1] {
		if s.index >= 0 {
			b = append(b, "[]"...)
		} else {
			b = appendField(b, s.field)
		}
	}
	if field := string(appendField(b, shortened(name))); !slices.Contains(u.paths, field) {
		u.paths = append(u.paths, field)
	}
}
