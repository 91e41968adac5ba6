// Package cascade keeps what is on record about copies that follow the rows that they are of: links, which say which
// rows hold copies of a row, and tasks, which say that the copies of a row are yet to follow it.
//
// A link is written and deleted in the commit that gives a row the identifier of another, or takes it away; a task, in
// the commit that changes the row that is copied. So both are as true as the rows themselves, also on a store whose
// indexes lag behind. Copies are brought up to date after that, in commits of their own, from the row as it is by then.
package cascade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Reference names a field of rows of Model that holds copies.
type Reference struct{ Model, Field string }

// Link says that the row of the key refers to the row with the identifier.
type Link struct {
	Reference
	Identifier string
	Key        keys.Key
}

// linkValue is the value of the note of a link whose ID does not hold the key; elsewhere it is empty.
type linkValue struct {
	PK string `json:"pk,omitempty"`
	SK string `json:"sk,omitempty"`
}

// longest is how many bytes of a key are in an ID, whose size stores bound.
const longest = 800

// ID is that of the note: it begins with the Prefix, and goes on with the key, so that links come in the order in which
// the store has the rows. A key that is too long is replaced by its digest.
func (l *Link) ID() string {
	prefix := Prefix(l.Reference, l.Identifier)
	if l.isLong() {
		return prefix + "#" + digest(fmt.Sprintf("%d %s%s", len(l.Key.PK), l.Key.PK, l.Key.SK))
	}
	return fmt.Sprintf("%s=%s\x00%s\x00%d", prefix, l.Key.PK, l.Key.SK, len(l.Key.PK))
}

func (l *Link) isLong() bool { return len(l.Key.PK)+len(l.Key.SK) > longest }

// Note puts the link on record.
func (l *Link) Note(kind string) querydb.Note {
	var v linkValue
	if l.isLong() {
		v = linkValue{l.Key.PK, l.Key.SK}
	}
	return querydb.Note{Kind: kind, ID: l.ID(), Value: encode(v)}
}

// Removal takes the link away.
func (l *Link) Removal(kind string) querydb.Note { return querydb.Note{Kind: kind, ID: l.ID()} }

// Prefix begins the IDs of all links to the row with the identifier, and of no others.
func Prefix(r Reference, identifier string) string {
	return digest(fmt.Sprintf("%d %d %s%s%s", len(r.Model), len(r.Field), r.Model, r.Field, identifier))
}

// IsLink reports whether a note of the kind of links is one to the row of the prefix.
func IsLink(n *querydb.Note, prefix string) bool { return strings.HasPrefix(n.ID, prefix) }

// ParseLink returns the key of the row that refers.
func ParseLink(n *querydb.Note) (keys.Key, error) {
	form, text := n.ID[digestSize:digestSize+1], n.ID[digestSize+1:]
	if form == "#" {
		var v linkValue
		err := json.Unmarshal(n.Value, &v)
		return keys.Key{PK: v.PK, SK: v.SK}, err
	}
	at := strings.LastIndexByte(text, 0)
	size, err := strconv.Atoi(text[at+1:])
	if err != nil || at < 0 || size >= at {
		return keys.Key{}, fmt.Errorf("the link %q names no key", n.ID)
	}
	return keys.Key{PK: text[:size], SK: text[size+1 : at]}, nil
}

// digestSize is the size of a digest.
const digestSize = 32

// digest is a text of digestSize characters that no two texts have in common.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// encode is the JSON of one of our own notes, which are made of strings and numbers.
func encode(note any) []byte {
	b, err := json.Marshal(note)
	if err != nil {
		panic("projection: encode a note about copies: " + err.Error())
	}
	return b
}
