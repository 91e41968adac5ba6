package scan

import "bytes"

// Skip reads any one value, checks all of it, and returns its text.
func (s *Scanner) Skip() ([]byte, error) {
	s.space()
	start := s.pos
	if err := s.value(0); err != nil {
		return nil, err
	}
	return s.buf[start:s.pos], nil
}

func (s *Scanner) value(depth int) (err error) {
	switch s.Kind() {
	case Object:
		return s.object(depth + 1)
	case Array:
		return s.array(depth + 1)
	case String:
		_, err = s.Text()
	case Number:
		_, err = s.Digits()
	case Boolean:
		_, err = s.Bool()
	case Null:
		err = s.Null()
	default:
		err = s.unexpected("a value")
	}
	return err
}

func (s *Scanner) array(depth int) error {
	if depth > MaxDepth {
		return s.fail(s.pos, "nested too deeply")
	}
	s.pos++
	for first := true; ; first = false {
		more, err := s.More(first, ']')
		if err != nil || !more {
			return err
		}
		if err := s.value(depth); err != nil {
			return err
		}
	}
}

func (s *Scanner) object(depth int) error {
	if depth > MaxDepth {
		return s.fail(s.pos, "nested too deeply")
	}
	s.pos++
	u := unique{scanner: s, base: len(s.names)}
	defer u.done()
	for first := true; ; first = false {
		more, err := s.More(first, '}')
		if err != nil || !more {
			return err
		}
		s.space()
		at := s.pos
		name, err := s.Name()
		if err != nil {
			return err
		}
		if !u.add(name) {
			return s.fail(at, "the name "+quote(name)+" is given twice")
		}
		if err := s.value(depth); err != nil {
			return err
		}
	}
}

// unique knows the names of one object. Few are compared one by one; beyond that a set is built, so that a large object
// costs no square.
type unique struct {
	scanner *Scanner
	base    int
	set     map[string]struct{}
}

const few = 16

// add reports whether the name is new.
func (u *unique) add(name []byte) bool {
	s := u.scanner
	if u.set == nil {
		for _, known := range s.names[u.base:] {
			if bytes.Equal(known, name) {
				return false
			}
		}
		if s.names == nil {
			s.names = make([][]byte, 0, few)
		}
		s.names = append(s.names, name)
		if len(s.names)-u.base > few {
			u.set = make(map[string]struct{}, 4*few)
			for _, known := range s.names[u.base:] {
				u.set[string(known)] = struct{}{}
			}
		}
		return true
	}
	if _, known := u.set[string(name)]; known {
		return false
	}
	u.set[string(name)] = struct{}{}
	return true
}

func (u *unique) done() { u.scanner.names = u.scanner.names[:u.base] }

// quote shows a name of the text in a message, cut where it is long.
func quote(name []byte) string {
	if len(name) > 64 {
		return `"` + string(bytes.ToValidUTF8(name[:64], nil)) + `…"`
	}
	return `"` + string(name) + `"`
}
