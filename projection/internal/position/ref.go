package position

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/foldql/foldql/eventlog"
)

// Ref is where an event stands.
type Ref struct {
	Partition string
	Offset    uint64
}

// RefOf is where the event stands.
func RefOf(e *eventlog.Event) Ref { return Ref{e.Partition, e.Offset} }

func (r Ref) String() string { return r.Partition + "@" + strconv.FormatUint(r.Offset, 10) }

// ID is the name of the event's notes; it sorts by partition, then offset.
func (r Ref) ID() string { return fmt.Sprintf("%s@%020d", r.Partition, r.Offset) }

// ErrInvalidRef is returned for malformed text of a Ref.
var ErrInvalidRef = errors.New("want a partition, @ and an offset, as in 0@17")

// ParseRef reads String and ID.
func ParseRef(s string) (Ref, error) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if n, err := strconv.ParseUint(s[i+1:], 10, 64); err == nil && n > 0 {
			return Ref{s[:i], n}, nil
		}
	}
	return Ref{}, fmt.Errorf("event %q: %w", s, ErrInvalidRef)
}
