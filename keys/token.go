package keys

// TokenKey is the secret that authenticates page tokens.
type TokenKey [32]byte

// Seal makes an opaque, URL-safe page token of a payload. The token opens only under the same key and binding; binding
// is whatever the page belongs to: the query, its arguments, the caller's scope.
func (k *TokenKey) Seal(binding, payload []byte) string { panic("keys: to be written") }

// Open returns the payload of a token that was sealed under the same key and binding. Any other token, whatever is
// wrong with it, is ErrToken.
func (k *TokenKey) Open(binding []byte, token string) ([]byte, error) { panic("keys: to be written") }

// Start is where a page begins: after the row with this key. Index is the row's key in the index that is read, empty
// where the table itself is.
type Start struct {
	Key   Key
	Index Key
}

// AppendStart appends the payload form of a Start.
func AppendStart(dst []byte, s Start) []byte { panic("keys: to be written") }

// ParseStart reads the payload form of a Start.
func ParseStart(b []byte) (Start, error) { panic("keys: to be written") }
