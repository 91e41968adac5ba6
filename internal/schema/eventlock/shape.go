package eventlock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// shapeOf stands for how a field is read: it is equal for fields that are read alike, whatever they, and the types in
// them, are called. Fields that were added to an object are left out: they have marks of their own.
func shapeOf(m *schema.Model, f *schema.EventField) string {
	s := shaper{model: m}
	s.field(f)
	sum := sha256.Sum256([]byte(s.text.String()))
	return hex.EncodeToString(sum[:6])
}

// formOf stands for what an object may hold: it is equal for objects that are read alike, by all of their fields and
// under all names that these had.
func formOf(m *schema.Model, t *schema.EventType) string {
	s := shaper{model: m, whole: true}
	s.object(t)
	sum := sha256.Sum256([]byte(s.text.String()))
	return hex.EncodeToString(sum[:6])
}

// shaper writes how something is read.
type shaper struct {
	model *schema.Model
	whole bool // with fields that were added, and with all names
	text  strings.Builder
	open  []*schema.EventType // that the text is within, the outermost first
}

func (s *shaper) field(f *schema.EventField) {
	switch {
	case f.Object != nil:
		s.object(f.Object)
	case f.Enum != "":
		fmt.Fprintf(&s.text, "%q", slices.Sorted(slices.Values(enumValues(s.model, f.Enum))))
	default:
		s.text.WriteString(f.Scalar)
	}
	fmt.Fprintf(&s.text, " list=%t nullable=%t,%t default=%q", f.List, f.Nullable, f.ElemNullable, f.Default)
}

func (s *shaper) object(t *schema.EventType) {
	if depth := slices.Index(s.open, t); depth >= 0 {
		fmt.Fprintf(&s.text, "{%d}", depth)
		return
	}
	s.open = append(s.open, t)
	s.text.WriteString("{")
	fields := slices.SortedFunc(slices.Values(t.Fields), func(a, b *schema.EventField) int {
		return cmp.Compare(a.FirstName(), b.FirstName())
	})
	for _, f := range fields {
		switch {
		case s.whole:
			fmt.Fprintf(&s.text, "%q ", append(slices.Clone(f.Was), f.Name))
		case f.Added == "":
			fmt.Fprintf(&s.text, "%q ", f.FirstName())
		}
		if s.whole || f.Added == "" {
			s.field(f)
			s.text.WriteString(";")
		}
	}
	s.text.WriteString("}")
	s.open = s.open[:len(s.open)-1]
}
