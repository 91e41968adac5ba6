package scan

// Open reads the bracket that begins an object ('{') or an array ('[').
func (s *Scanner) Open(bracket byte) error {
	if !s.take(bracket) {
		return s.unexpected(string(rune(bracket)))
	}
	return nil
}

// More reports whether another member or element follows, and reads the comma before it or the closing bracket ('}' or
// ']') after the last. first is true right after Open.
func (s *Scanner) More(first bool, closing byte) (bool, error) {
	if s.take(closing) {
		return false, nil
	}
	if first {
		return true, nil
	}
	if !s.take(',') {
		return false, s.unexpected("',' or '" + string(rune(closing)) + "'")
	}
	if s.space(); s.pos < len(s.buf) && s.buf[s.pos] == closing {
		return false, s.unexpected("a value after ','")
	}
	return true, nil
}

// Name reads the name of a member and the colon after it.
func (s *Scanner) Name() ([]byte, error) {
	name, err := s.Text()
	if err != nil {
		return nil, err
	}
	if !s.take(':') {
		return nil, s.unexpected("':'")
	}
	return name, nil
}
