// Package trusted keeps the documents that the clients of an API were built with. A server can answer them by their
// identifiers, so that clients need not send them, and can answer them alone.
//
// Documents come from manifests, which tools of frontends write: see [Documents.Add]. [Open] reads them from files, and
// [Files.Reload] reads them again where a deployment of a frontend has changed them.
package trusted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Documents are documents by their identifiers. The zero value has none. What has been read may be used by many
// goroutines at once.
type Documents struct {
	texts map[string]string   // by identifier
	known map[string]struct{} // the texts
}

// hashPrefix is that of an identifier which is the hash of the document, in 64 lower-case hexadecimal digits. See
// Appendix A, "Persisted Documents", of the GraphQL-over-HTTP specification.
const hashPrefix = "sha256:"

// Hash is the identifier that the text of a document has by itself.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// Text returns the document with an identifier: one of a manifest, or the Hash of a document. The digits of a Hash do
// too, as Apollo's clients send them.
func (d *Documents) Text(id string) (text string, ok bool) {
	if text, ok = d.texts[id]; !ok && !strings.Contains(id, ":") {
		text, ok = d.texts[hashPrefix+id]
	}
	return text, ok
}

// Has reports whether the text is one of the documents, to the letter.
func (d *Documents) Has(text string) bool {
	_, ok := d.known[text]
	return ok
}

// Len is how many documents there are.
func (d *Documents) Len() int { return len(d.known) }

// Texts are the documents, in order.
func (d *Documents) Texts() []string { return slices.Sorted(maps.Keys(d.known)) }

// put adds a document under an identifier of its own, and under its Hash.
func (d *Documents) put(id, text string) error {
	hash := Hash(text)
	switch prefix, _, prefixed := strings.Cut(id, ":"); {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("document %.100q is empty", id)
	case id == "":
		return fmt.Errorf("a document has no identifier: %.100q", text)
	case prefixed && prefix+":" == hashPrefix && id != hash:
		return fmt.Errorf("document %.100q has the hash %s: it was changed after the manifest was written", id, hash)
	case prefixed && prefix+":" != hashPrefix && !strings.HasPrefix(prefix, "x-"):
		return fmt.Errorf("document %.100q: an identifier that begins with %q: is not known; use %s or begin it with x-", id,
			prefix, hashPrefix)
	}
	if other, taken := d.texts[id]; taken && other != text {
		return fmt.Errorf("document %.100q is there twice, with different texts", id)
	}
	if d.texts == nil {
		d.texts, d.known = map[string]string{}, map[string]struct{}{}
	}
	d.texts[id], d.texts[hash] = text, text
	d.known[text] = struct{}{}
	return nil
}
