package collision

import "slices"

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s[c/64] |= 1 << (c % 64)
	}
}

func (s *byteSet) remove(from, to byte) {
	for c := int(from); c <= int(to); c++ {
		s[c/64] &^= 1 << (c % 64)
	}
}

func (s byteSet) overlaps(t byteSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

func bytesOf(text string) byteSet {
	var s byteSet
	for i := range len(text) {
		s.add(text[i], text[i])
	}
	return s
}

// language is the set of texts that half of a key can be, as the automaton that knows them. It begins at state 0 and
// ends at the last.
type language struct{ states []languageState }

type languageState struct {
	steps []step
	free  []int // states that are reached without a byte
}

type step struct {
	on byteSet
	to int
}

func newLanguage() *language { return &language{states: make([]languageState, 1)} }

func (l *language) last() int { return len(l.states) - 1 }

// one goes on with one byte of the set.
func (l *language) one(on byteSet) {
	from := l.last()
	l.states = append(l.states, languageState{})
	l.states[from].steps = append(l.states[from].steps, step{on, l.last()})
}

// many goes on with any number of bytes of the set.
func (l *language) many(on byteSet) {
	l.skip()
	l.states[l.last()].steps = append(l.states[l.last()].steps, step{on, l.last()})
}

// maybe goes on with one byte of the set, or none.
func (l *language) maybe(on byteSet) {
	from := l.last()
	l.one(on)
	l.states[from].free = append(l.states[from].free, l.last())
}

// skip begins a new state, so that what is added to it does not hold for those before.
func (l *language) skip() {
	from := l.last()
	l.states = append(l.states, languageState{})
	l.states[from].free = append(l.states[from].free, l.last())
}

// endAt lets texts end at some of the states too.
func (l *language) endAt(states []int) {
	l.skip()
	for _, s := range states {
		l.states[s].free = append(l.states[s].free, l.last())
	}
}

func (l *language) text(text string) {
	for i := range len(text) {
		l.one(bytesOf(text[i : i+1]))
	}
}

// choice goes on with one of the texts.
func (l *language) choice(texts []string) {
	from := l.last()
	var ends []int
	for _, text := range texts {
		l.states = append(l.states, languageState{})
		l.states[from].free = append(l.states[from].free, l.last())
		l.text(text)
		ends = append(ends, l.last())
	}
	l.states = append(l.states, languageState{})
	for _, end := range ends {
		l.states[end].free = append(l.states[end].free, l.last())
	}
}

// overlaps reports whether a text is in both languages.
func (l *language) overlaps(m *language) bool {
	type pair struct{ a, b int }
	seen := map[pair]bool{{}: true}
	todo := []pair{{}}
	visit := func(p pair) {
		if !seen[p] {
			seen[p] = true
			todo = append(todo, p)
		}
	}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.a == l.last() && p.b == m.last() {
			return true
		}
		a, b := l.states[p.a], m.states[p.b]
		for _, to := range a.free {
			visit(pair{to, p.b})
		}
		for _, to := range b.free {
			visit(pair{p.a, to})
		}
		for _, s := range a.steps {
			for _, t := range b.steps {
				if s.on.overlaps(t.on) {
					visit(pair{s.to, t.to})
				}
			}
		}
	}
	return false
}

// pattern goes on with a text in which d (or D) stands for a digit.
func (l *language) pattern(pattern string) {
	digits := bytesOf("0123456789")
	for i := range len(pattern) {
		if slices.Contains([]byte("dD"), pattern[i]) {
			l.one(digits)
		} else {
			l.text(pattern[i : i+1])
		}
	}
}
