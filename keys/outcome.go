package keys

// HalfUpdateOp is what a write does to the stored key of an index half.
type HalfUpdateOp uint8

// What a write does to a half.
const (
	KeepKey   HalfUpdateOp = iota // leaves it as it is
	SetKey                        // replaces it
	RemoveKey                     // takes it away
)

// HalfUpdate is what a write does to the stored key of an index half. The zero Outcome leaves it as it is.
type HalfUpdate struct {
	Op   HalfUpdateOp
	Text string // the key that is Set
}

// Apply returns the stored key after the write, from the one before it; has is false where there is none.
func (o HalfUpdate) Apply(text string, has bool) (string, bool) {
	switch o.Op {
	case SetKey:
		return o.Text, true
	case RemoveKey:
		return "", false
	}
	return text, has
}
