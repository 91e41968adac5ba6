package keys

// OutcomeOp is what a write does to the stored key of an index half.
type OutcomeOp uint8

// What a write does to a half.
const (
	Keep   OutcomeOp = iota // leaves it as it is
	Set                     // replaces it
	Remove                  // takes it away
)

// Outcome is what a write does to the stored key of an index half. The zero Outcome leaves it as it is.
type Outcome struct {
	Op   OutcomeOp
	Text string // the key that is Set
}

// Apply returns the stored key after the write, from the one before it; has is false where there is none.
func (o Outcome) Apply(text string, has bool) (string, bool) {
	switch o.Op {
	case Set:
		return o.Text, true
	case Remove:
		return "", false
	}
	return text, has
}
