package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
)

// ErrInvalidToken is the error of any page token that this program did not seal, or that belongs to another query.
var ErrInvalidToken = errors.New("keys: the page token is not valid here")

// TokenKey is the secret that encrypts and authenticates page tokens.
type TokenKey [32]byte

// tokenVersion is the first byte of every token: the form of what follows.
const tokenVersion = 1

const (
	nonceSize = 12
	tagSize   = 16
)

// tokenText refuses all texts of the same bytes but one.
var tokenText = base64.RawURLEncoding.Strict()

// Seal is [Sealer.Seal] of the key's Sealer.
func (k *TokenKey) Seal(binding, payload []byte) string { return k.Sealer().Seal(binding, payload) }

// Open is [Sealer.Open] of the key's Sealer.
func (k *TokenKey) Open(binding []byte, token string) ([]byte, error) {
	return k.Sealer().Open(binding, token)
}

// Sealer makes and opens the page tokens of one key. It is safe for concurrent use; create it once per key.
type Sealer struct {
	aead   cipher.AEAD
	secret [sha256.Size]byte // of nonces
}

// Sealer returns the [Sealer] that makes and opens page tokens with the key.
func (k *TokenKey) Sealer() *Sealer {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic(err) // a key of 32 bytes is of a right size
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size that GCM wants
	}
	return &Sealer{aead: aead, secret: sha256.Sum256(append([]byte("page token nonce"), k[:]...))}
}

// Seal makes an opaque, URL-safe page token of a payload. The token opens only under the same key and binding; binding
// is whatever the page belongs to: the query, its arguments, the caller's scope.
//
// The payload is encrypted, because the key of a row may hold what the caller may not read. Equal arguments give equal
// tokens, so that equal requests have equal answers.
func (s *Sealer) Seal(binding, payload []byte) string {
	token := make([]byte, 1, 1+sha256.Size+len(payload)+tagSize) // with room for the sum that the nonce is cut from
	token[0] = tokenVersion
	token = s.appendNonce(token, binding, payload)
	token = s.aead.Seal(token, token[1:], payload, binding)
	return tokenText.EncodeToString(token)
}

// Open returns the payload of a token that was sealed under the same key and binding. Any other token, whatever is
// wrong with it, is ErrInvalidToken.
func (s *Sealer) Open(binding []byte, token string) ([]byte, error) {
	if strings.ContainsAny(token, "\r\n") { // which decoding would pass over
		return nil, ErrInvalidToken
	}
	b, err := tokenText.DecodeString(token)
	if err != nil || len(b) < 1+nonceSize+tagSize || b[0] != tokenVersion {
		return nil, ErrInvalidToken
	}
	payload, err := s.aead.Open(nil, b[1:1+nonceSize], b[1+nonceSize:], binding)
	if err != nil {
		return nil, ErrInvalidToken
	}
	return payload, nil
}

// appendNonce derives the nonce from all that is sealed: it repeats only where the whole token does.
func (s *Sealer) appendNonce(dst, binding, payload []byte) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(binding)))
	h.Write(size[:])
	h.Write(binding)
	h.Write(payload)
	return h.Sum(dst)[:len(dst)+nonceSize]
}

// Cursor is where a page begins: after the row with this key.
type Cursor struct {
	Key   Key
	Index Key // the row's key in the index that is read; zero on the table itself
}

// AppendCursor appends the cursor as the payload of a page token; see [Sealer.Seal].
func AppendCursor(dst []byte, s Cursor) []byte { return appendCursor(dst, s, 0) }

// paddedSize is what the length of a padded cursor is a multiple of: no more than there is room for in the sizes of
// four texts.
const paddedSize = 32

// AppendPaddedCursor is AppendCursor for a cursor whose length is to tell little of how long the keys are. Programs
// that know nothing of the padding read it too.
func AppendPaddedCursor(dst []byte, s Cursor) []byte {
	before := len(dst)
	dst = AppendCursor(dst, s)
	size := len(dst) - before
	return appendCursor(dst[:before], s, -size&(paddedSize-1))
}

// appendCursor appends each text behind its size, which is written in more bytes than it needs until that makes so many
// in all.
func appendCursor(dst []byte, s Cursor, padding int) []byte {
	for _, part := range [...]string{s.Key.PK, s.Key.SK, s.Index.PK, s.Index.SK} {
		before := len(dst)
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		for ; padding > 0 && len(dst)-before < binary.MaxVarintLen64; padding-- {
			dst[len(dst)-1] |= 0x80 // another byte follows
			dst = append(dst, 0)
		}
		dst = append(dst, part...)
	}
	return dst
}

// ParseCursor reads the payload of a page token, padded or not; it fails with [ErrInvalidToken].
func ParseCursor(b []byte) (Cursor, error) {
	var s Cursor
	for _, part := range [...]*string{&s.Key.PK, &s.Key.SK, &s.Index.PK, &s.Index.SK} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Cursor{}, ErrInvalidToken
		}
		b = b[n:]
		*part, b = string(b[:size]), b[size:]
	}
	if len(b) > 0 {
		return Cursor{}, ErrInvalidToken
	}
	return s, nil
}
