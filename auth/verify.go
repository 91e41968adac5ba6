// Package auth verifies bearer tokens and carries the identity of the caller.
//
// [NewVerifier] makes a [Verifier] of a shared secret or of a key set. Its Middleware puts the [Caller] into the
// context of each request, where [FromContext] finds it; a request without a token goes on without a caller, one with a
// bad token is answered with 401.
//
// Tokens are JWTs. The configuration fixes which algorithms are accepted, never the token: a secret verifies HS* only,
// a public key never does, and "none" is never accepted.
package auth

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	cfg    Config
	parser *jwt.Parser
	keys   keySource

	unauthenticated, unavailable atomic.Uint64 // requests that were refused so
}

// keySource finds the keys that a token may be signed with.
type keySource interface {
	// find leaves out keys that the token has been tried with: it is signed with none of them.
	find(ctx context.Context, w wanted, tried []jwt.VerificationKey) ([]jwt.VerificationKey, error)
}

// wanted is what a token says of the key that it is signed with, before anybody knows whether that is true.
type wanted struct {
	alg, kid string
	issued   time.Time // when the key was in use; zero where the token does not say it
}

// ErrUnavailable is the error where no keys could be read, or none for too long, so that no token can be verified; and
// of a token that is signed with none of those at hand, where the last attempt to read the set failed, or the token was
// issued since.
var ErrUnavailable = errors.New("tokens cannot be verified at the moment")

// TokenError says why a token is not accepted, in words that its bearer may read.
type TokenError struct {
	Reason string
	cause  error
}

func (e *TokenError) Error() string { return "the token " + e.Reason }
func (e *TokenError) Unwrap() error { return e.cause }

func refuse(cause error, format string, args ...any) error {
	return &TokenError{Reason: fmt.Sprintf(format, args...), cause: cause}
}

// NewVerifier checks the configuration and reads the key set. A file must be readable; an address that does not answer
// is asked again when the first token comes.
func NewVerifier(ctx context.Context, cfg Config) (*Verifier, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.warn()
	v := &Verifier{cfg: cfg, parser: newParser(&cfg), keys: secret(cfg.Secret)}
	if cfg.JWKS != "" {
		set := newKeySet(&cfg)
		if err := set.open(ctx); err != nil {
			return nil, err
		}
		v.keys = set
	}
	return v, nil
}

func newParser(cfg *Config) *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(cfg.Algorithms), jwt.WithExpirationRequired(), jwt.WithStrictDecoding(), jwt.WithJSONNumber(),
		jwt.WithLeeway(cfg.Leeway), jwt.WithTimeFunc(cfg.Now),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if len(cfg.Audience) > 0 {
		options = append(options, jwt.WithAudience(cfg.Audience...))
	}
	return jwt.NewParser(options...)
}

// Verify returns who the token says its bearer is. Its error is a *TokenError, ErrUnavailable, or the context's.
func (v *Verifier) Verify(ctx context.Context, token string) (Caller, error) {
	if len(token) > v.cfg.MaxTokenSize {
		return Caller{}, refuse(nil, "has more than %d bytes", v.cfg.MaxTokenSize)
	}
	claims, keys, err := v.parse(ctx, token, nil)
	if errors.Is(err, jwt.ErrTokenSignatureInvalid) && len(keys) > 0 { // its issuer may sign with another key by now
		claims, _, err = v.parse(ctx, token, keys)
	}
	if err != nil {
		return Caller{}, v.explain(ctx, err)
	}
	return v.caller(claims)
}

// parse verifies the token with the keys that it may be signed with, but for those tried before, and returns these.
func (v *Verifier) parse(ctx context.Context, token string, tried []jwt.VerificationKey) (
	claims jwt.MapClaims, keys []jwt.VerificationKey, err error,
) {
	claims = jwt.MapClaims{}
	_, err = v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		keys, err = v.candidates(ctx, t, tried)
		return jwt.VerificationKeySet{Keys: keys}, err
	})
	return claims, keys, err
}

// candidates finds the keys for a token whose algorithm is one of those accepted.
func (v *Verifier) candidates(ctx context.Context, t *jwt.Token, tried []jwt.VerificationKey) (
	[]jwt.VerificationKey, error,
) {
	if _, critical := t.Header["crit"]; critical {
		return nil, refuse(nil, "has critical extensions, which are not understood")
	}
	kid, isText := t.Header["kid"].(string)
	if _, given := t.Header["kid"]; given && !isText {
		return nil, refuse(nil, "has a key id that is no string")
	}
	keys, err := v.keys.find(ctx, wanted{t.Method.Alg(), kid, issuedAt(t.Claims)}, tried)
	switch {
	case err != nil:
		return nil, err
	case len(keys) == 0 && len(tried) > 0:
		return nil, refuseSignature(jwt.ErrTokenSignatureInvalid)
	case len(keys) == 0:
		return nil, refuse(nil, "is signed with an unknown key")
	}
	return keys, nil
}

// issuedAt is zero where the claims have no such time.
func issuedAt(claims jwt.Claims) time.Time {
	at, err := claims.GetIssuedAt()
	if err != nil || at == nil {
		return time.Time{}
	}
	return at.Time
}

func refuseSignature(cause error) error { return refuse(cause, "is not signed as it must be") }

// explain turns an error of the parser into one that says no more than the bearer of the token needs.
func (v *Verifier) explain(ctx context.Context, err error) error {
	var known *TokenError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrUnavailable):
		return ErrUnavailable
	case errors.As(err, &known):
		return known
	case errors.Is(err, jwt.ErrTokenMalformed):
		return refuse(err, "is malformed")
	case errors.Is(err, jwt.ErrTokenExpired):
		return refuse(err, "has expired")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return refuse(err, "is not valid yet")
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return refuse(err, "is for another audience")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return refuse(err, "is of another issuer")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return refuse(err, "lacks a claim that is required (exp, and iss and aud where they are checked)")
	case errors.Is(err, jwt.ErrTokenInvalidClaims):
		return refuse(err, "has claims that are not valid")
	}
	return refuseSignature(err)
}

// secret is the one key of symmetric algorithms.
type secret []byte

func (s secret) find(_ context.Context, _ wanted, tried []jwt.VerificationKey) ([]jwt.VerificationKey, error) {
	if len(tried) > 0 {
		return nil, nil
	}
	return []jwt.VerificationKey{[]byte(s)}, nil
}
