package data

import "github.com/foldql/foldql/eventlog/internal/scan"

// List reads a list of which read reads one element. The list is not nil, empty as it may be. Elements that are null
// are errors; see Nullable.
func List[T any](r *Reader, read func(*Reader) T) []T {
	if !r.want(scan.Array, "list") || !r.deeper() || !r.check(r.text.Open('[')) {
		return nil
	}
	var room [16]T
	list := room[:0]
	r.path = append(r.path, step{})
	for first := true; ; first = false {
		more, err := r.text.More(first, ']')
		if !r.check(err) {
			return nil
		}
		if !more {
			r.path = r.path[:len(r.path)-1]
			return append(make([]T, 0, len(list)), list...)
		}
		element := read(r)
		if r.err != nil {
			return nil
		}
		list = append(list, element)
		r.path[len(r.path)-1].index++
	}
}

// Nullable makes of a function that reads a value one that reads a value or null, which is nil: for lists whose
// elements may be null.
func Nullable[T any](read func(*Reader) T) func(*Reader) *T {
	return func(r *Reader) *T {
		if r.err == nil && r.text.Kind() == scan.Null {
			r.check(r.text.Null())
			return nil
		}
		v := read(r)
		return &v
	}
}
