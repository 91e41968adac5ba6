package positions

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/foldql/foldql/keys"
)

// Place is where an event stands, in a partition of some incarnation.
type Place struct {
	Partition   string `json:"p"`
	Incarnation string `json:"i,omitempty"`
	Offset      uint64 `json:"o"`
}

// ErrInvalid is of a text that no server with this token key has given out as a position.
var ErrInvalid = errors.New("this is no position that the server has given out")

// Bounds of positions. One that is larger than a header should be is left out of answers.
const (
	maxToken  = 4 << 10
	mostAsked = 16 // positions that one request may ask for
	binding   = "position"
)

// sealer makes the texts of positions that clients get. It remembers those that it has made, because most answers are
// of rows that have not changed since the last.
type sealer struct {
	key    *keys.Sealer
	mu     sync.Mutex
	sealed map[string]string // by appendName
}

// mostRemembered is how many texts are remembered.
const mostRemembered = 1 << 10

// seal makes the text of a position; "" where it would be too long for a header, or there are no places.
func (s *sealer) seal(places []Place) string {
	if len(places) == 0 {
		return ""
	}
	slices.SortFunc(places, func(a, b Place) int { return cmp.Compare(a.Partition, b.Partition) })
	var few [256]byte
	name := appendName(few[:0], places)
	s.mu.Lock()
	defer s.mu.Unlock()
	token, known := s.sealed[string(name)]
	if known {
		return token
	}
	text, err := json.Marshal(places)
	if err != nil {
		panic(err) // strings and numbers have a JSON form
	}
	if token = s.key.Seal([]byte(binding), text); len(token) > maxToken {
		return ""
	}
	if s.sealed == nil || len(s.sealed) == mostRemembered {
		s.sealed = map[string]string{}
	}
	s.sealed[string(name)] = token
	return token
}

// appendName appends what no other position has, and takes less time to make than what is sealed.
func appendName(b []byte, places []Place) []byte {
	for _, p := range places {
		b = binary.AppendUvarint(b, uint64(len(p.Partition)))
		b = append(b, p.Partition...)
		b = binary.AppendUvarint(b, uint64(len(p.Incarnation)))
		b = append(b, p.Incarnation...)
		b = binary.AppendUvarint(b, p.Offset)
	}
	return b
}

// open is the position that a client has given back.
func (s *sealer) open(token string) ([]Place, error) {
	if len(token) > maxToken {
		return nil, ErrInvalid
	}
	text, err := s.key.Open([]byte(binding), token)
	if err != nil {
		return nil, ErrInvalid
	}
	var places []Place
	if err := json.Unmarshal(text, &places); err != nil {
		return nil, ErrInvalid
	}
	return places, nil
}
