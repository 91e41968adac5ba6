package keys

// Layout says how one half of a key is composed: the values of its composite attributes, in order, joined with Sep.
// The zero Layout composes nothing: the half does not exist.
type Layout struct {
	Segments []Segment
	Sep      string
}

// Segment is one composite attribute of a Layout.
type Segment struct {
	Field string // the attribute's name in the model, for messages
	Kind  Kind
}

// Exists reports whether there is such a half at all.
func (l Layout) Exists() bool { return len(l.Segments) > 0 }

// Append appends the text of the half to dst. vals are the values of the segments in order; fewer values than segments
// compose the leading prefix, closed by the separator. It fails with an error that names the field where a value is
// absent, of another kind than the segment's, or has no key text (NaN, a year outside 0000 to 9999).
func (l Layout) Append(dst []byte, vals ...Value) ([]byte, error) { panic("keys: to be written") }

// Compose is Append into a new string.
func (l Layout) Compose(vals ...Value) (string, error) { panic("keys: to be written") }

// Operands are the sort-key conditions as a read-model query takes them: text of the sort key. Nil means not given.
type Operands struct {
	Eq, Prefix, From, To *string
}

// Range turns operands into a condition on this half. eq, prefix and from/to exclude each other: two groups at once is
// an *OperandError that names them. On a half that is one date-time, a complete date-time of any offset is normalised,
// and a partial one means the whole period ("to: 2024-06-30" includes that day). On a half that is one number, the text
// is read as that number. Anything else is taken as text of the key.
func (l Layout) Range(o Operands) (Range, error) { panic("keys: to be written") }

// OperandError says which arguments of a query are wrong, and why.
type OperandError struct {
	Args   []string
	Reason string
}

func (e *OperandError) Error() string { return e.Reason }
