package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// key is a public key and what it may be used for.
type key struct {
	id     string
	alg    string // the only algorithm it is for, "" for any of its family
	public jwt.VerificationKey
}

// minRSA is the size of RSA keys, in bits, below which signatures can be forged with effort.
const minRSA = 2048

// fits reports whether a token of that algorithm and key id may be signed with the key. A token without a key id is
// tried with every key of its algorithm.
func (k *key) fits(alg, kid string) bool {
	return (kid == "" || kid == k.id) && (k.alg == "" || k.alg == alg) && family(k.public, alg)
}

// among reports whether the key is one of those given.
func (k *key) among(keys []jwt.VerificationKey) bool {
	public, _ := k.public.(interface{ Equal(crypto.PublicKey) bool }) // as all kinds that parseKey takes
	return slices.ContainsFunc(keys, func(other jwt.VerificationKey) bool { return public.Equal(other) })
}

// family reports whether the algorithm works with such a key.
func family(public jwt.VerificationKey, alg string) bool {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return alg[:2] == "RS" || alg[:2] == "PS"
	case *ecdsa.PublicKey:
		return alg == map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// parseKeys reads the public keys for signatures out of a key set. Keys of other kinds and uses are passed over, as the
// specification asks. A set may be empty: its issuer has withdrawn all keys.
func parseKeys(text []byte, log *slog.Logger) ([]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("it is no JSON Web Key Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("it is no JSON Web Key Set: it lacks the list of keys")
	}
	var keys []key
	for i, raw := range set.Keys {
		k, err := parseKey(raw)
		if err != nil {
			log.Warn("key passed over", "place", i, "error", err)
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func parseKey(raw json.RawMessage) (key, error) {
	var m jwkset.JWKMarshal
	if err := json.Unmarshal(raw, &m); err != nil {
		return key{}, err
	}
	if m.USE != "" && m.USE != jwkset.UseSig {
		return key{}, fmt.Errorf("key %q is for use %q", m.KID, m.USE)
	}
	if m.KTY == jwkset.KtyOct {
		return key{}, fmt.Errorf("key %q is a shared secret, which does not belong in a key set: configure it "+
			"as the secret", m.KID)
	}
	jwk, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{SkipMetadata: true})
	if err != nil {
		return key{}, fmt.Errorf("key %q: %w", m.KID, err)
	}
	k := key{id: m.KID, alg: m.ALG.String(), public: jwk.Key()}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSA {
			return key{}, fmt.Errorf("key %q has %d bits, and needs %d at least", m.KID, bits, minRSA)
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return key{}, fmt.Errorf("key %q is of kind %s, which signatures are not verified with", m.KID, m.KTY)
	}
	return k, nil
}
