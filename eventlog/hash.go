package eventlog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash"
	"maps"
	"slices"
)

// ContentHash returns a hash of the event's content, of 43 characters: two events with one hash have the same content,
// wherever they stand. It is SHA-256 over the attributes, each led by its length, and the data as JSON in canonical
// form: without spaces, the keys of objects in order, numbers as they are written. Data that is no JSON counts byte by
// byte.
func ContentHash(e *Event) string {
	h := sha256.New()
	for _, text := range [...]string{e.Source, e.ID, e.Type, e.Subject, e.PartitionKey, e.DataSchema} {
		hashText(h, text)
	}
	hashNumber(h, uint64(e.Time.Unix()))
	hashNumber(h, uint64(e.Time.Nanosecond()))
	hashNumber(h, uint64(len(e.Extensions)))
	for _, name := range slices.Sorted(maps.Keys(e.Extensions)) {
		hashText(h, name)
		hashText(h, e.Extensions[name])
	}
	h.Write(canonical(e.Data))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func hashNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

func hashText(h hash.Hash, s string) {
	hashNumber(h, uint64(len(s)))
	h.Write([]byte(s))
}

// canonical is the text in a form that hangs on nothing but its JSON value, where it is one.
func canonical(text []byte) []byte {
	v, ok := value(text)
	if !ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return b
}
