package scan

import "bytes"

// Outline reads the texts, numbers and the like that stand at some paths of an object, of which it is given one piece
// after another: it is for one that is too long to be kept. It does not check the object. Where that is no JSON, what
// stands before the fault is read.
type Outline struct {
	text  []byte // what is kept: an object too
	state tokenState
	token []byte // a name or a value so far, no longer than longestToken
	open  []container
	ended bool // nothing that follows is kept
}

// Bounds of what an Outline keeps. A value that is longer is left out. That of an attribute has 2,048 bytes at most, of
// which each may be written as six.
const (
	longestToken   = 16 << 10
	longestOutline = 256 << 10
)

// tokenState is where in a token a text has come to.
type tokenState uint8

const (
	betweenTokens tokenState = iota
	inString
	inEscape // of a string, after its backslash
	inWord   // a number, or a name of a value
)

// container is an object or a list that is open.
type container struct {
	list  bool
	kept  bool       // it is in the outline
	paths [][]string // that are kept, from the object on
	name  []byte     // of the member that is read, as it is written; nil before that
	below [][]string // what is kept of the member: paths from it on, an empty one for the member itself
}

// NewOutline makes an Outline of what stands at the paths.
func NewOutline(paths [][]string) *Outline {
	// The object is read as the one member of another, which has no end.
	return &Outline{open: []container{{name: []byte{}, below: paths}}}
}

// Text is the outline so far: an object in which members at the paths are as they were written, and no others are.
func (o *Outline) Text() []byte { return o.text }

// Add reads the next piece.
func (o *Outline) Add(piece []byte) {
	for _, c := range piece {
		if o.ended {
			return
		}
		o.next(c)
	}
}

func (o *Outline) next(c byte) {
	switch o.state {
	case inEscape:
		o.keep(c)
		o.state = inString
		return
	case inString:
		o.keep(c)
		if c == '\\' {
			o.state = inEscape
		} else if c == '"' {
			o.endToken()
		}
		return
	case inWord:
		if !endsWord(c) {
			o.keep(c)
			return
		}
		o.endToken()
	}
	o.between(c)
}

func endsWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '}', ']', '{', '[', '"':
		return true
	}
	return false
}

// between reads a byte that is not in a token.
func (o *Outline) between(c byte) {
	top := &o.open[len(o.open)-1]
	switch c {
	case ' ', '\t', '\r', '\n', ':':
	case ',':
		top.name, top.below = nil, nil
	case '{', '[':
		o.enter(c == '[')
	case '}', ']':
		o.leave(c == ']')
	case '"':
		o.token, o.state = append(o.token[:0], c), inString
	default:
		o.token, o.state = append(o.token[:0], c), inWord
	}
}

// keep adds a byte to the token. Of one that is too long, one more than may be is kept.
func (o *Outline) keep(c byte) {
	if len(o.token) <= longestToken {
		o.token = append(o.token, c)
	}
}

// endToken takes the name or the value that has been read.
func (o *Outline) endToken() {
	o.state = betweenTokens
	top := &o.open[len(o.open)-1]
	switch {
	case top.list || len(o.token) > longestToken && top.name != nil:
	case top.name == nil:
		top.setName(o.token)
	case keepsItself(top.below):
		o.member(top.name, o.token)
	}
}

// setName begins a member.
func (c *container) setName(written []byte) {
	c.name = written[:0]
	if len(c.paths) == 0 || len(written) > longestToken {
		return
	}
	c.name = bytes.Clone(written)
	var s Scanner
	s.Reset(written)
	name, err := s.Text()
	if err != nil {
		return
	}
	for _, path := range c.paths {
		if path[0] == string(name) {
			c.below = append(c.below, path[1:])
		}
	}
}

// keepsItself reports whether one of the paths has come to its end.
func keepsItself(below [][]string) bool {
	for _, path := range below {
		if len(path) == 0 {
			return true
		}
	}
	return false
}

// member adds a member to the outline, or the beginning of one.
func (o *Outline) member(name, value []byte) {
	if len(o.text)+len(name)+len(value) > longestOutline {
		o.ended = true
		return
	}
	if last := len(o.text) - 1; last >= 0 && o.text[last] != '{' {
		o.text = append(o.text, ',')
	}
	if len(name) > 0 {
		o.text = append(append(o.text, name...), ':')
	}
	o.text = append(o.text, value...)
}

// enter opens an object or a list; a list is never in the outline.
func (o *Outline) enter(list bool) {
	if len(o.open) > MaxDepth || len(o.open) == 1 && list {
		o.ended = true
		return
	}
	outer := &o.open[len(o.open)-1]
	inner := container{list: list}
	if !list {
		for _, path := range outer.below {
			if len(path) > 0 {
				inner.paths = append(inner.paths, path)
			}
		}
	}
	if inner.kept = len(inner.paths) > 0; inner.kept {
		o.member(outer.name, []byte{'{'})
	}
	o.open = append(o.open, inner)
}

// leave closes an object or a list. After the outermost, nothing is kept.
func (o *Outline) leave(list bool) {
	last := len(o.open) - 1
	if last == 0 || o.open[last].list != list {
		o.ended = true
		return
	}
	if o.open[last].kept {
		o.text = append(o.text, '}')
	}
	o.open = o.open[:last]
	o.ended = last == 1
}
