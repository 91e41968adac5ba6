package config

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/foldql/foldql/auth"
)

// Callers say how callers prove who they are.
type Callers struct {
	Auth            string        `help:"on: enforce the rules of the schema; off: everybody may read everything." enum:"on,off" default:"on" group:"Who may read"`
	JWTSecret       string        `name:"jwt-secret" help:"Secret of symmetric tokens (HS256, unless --jwt-algorithms says otherwise), 32 bytes at least; better given by its variable, or by a file." group:"Who may read"`
	JWTSecretFile   string        `name:"jwt-secret-file" help:"File that holds the secret; a line break at its end does not count." placeholder:"FILE" group:"Who may read"`
	JWTJWKS         string        `name:"jwt-jwks" help:"File or address of the JSON Web Key Set of the issuer." placeholder:"FILE|URL" group:"Who may read"`
	JWTAlgorithms   []string      `name:"jwt-algorithms" help:"Accepted algorithms; HS256 with a secret, and every asymmetric one with a key set by default." group:"Who may read"`
	JWTIssuer       string        `name:"jwt-issuer" help:"Required issuer of tokens." group:"Who may read"`
	JWTAudience     []string      `name:"jwt-audience" help:"Accepted audiences; a token needs one of them." group:"Who may read"`
	JWTLeeway       time.Duration `name:"jwt-leeway" help:"Tolerated difference between the clock of the issuer and ours." default:"30s" group:"Who may read"`
	JWTKeysExpire   time.Duration `name:"jwt-keys-expire-after" help:"How long keys stay valid after the key set was last read, if it can no longer be read." default:"1h" group:"Who may read"`
	JWTSubjectClaim string        `name:"jwt-subject-claim" help:"Claim that names the caller; dots lead into objects." default:"sub" group:"Who may read"`
	JWTGroupsClaims []string      `name:"jwt-groups-claims" help:"Claims that list the groups of the caller." default:"groups,cognito:groups" group:"Who may read"`
}

// longestLeeway is more than clocks differ by: tokens that are long expired are not to be accepted for a slip of the
// pen.
const longestLeeway = time.Hour

// Bounds of the time that keys serve which cannot be read again: long enough for the issuer to restart, and short
// enough for keys that it has withdrawn.
const (
	shortestKeys = time.Minute
	longestKeys  = 7 * 24 * time.Hour
)

// Verifier makes the verifier that the options ask for, nil where they ask for none, or callers are not verified.
func (o *Callers) Verifier(ctx context.Context, log *slog.Logger) (*auth.Verifier, error) {
	if err := checkBounds("jwt-leeway", o.JWTLeeway, 0, longestLeeway); err != nil {
		return nil, err
	}
	if err := checkBounds("jwt-keys-expire-after", o.JWTKeysExpire, shortestKeys, longestKeys); err != nil {
		return nil, err
	}
	secret, err := secretOf("jwt-secret", o.JWTSecret, o.JWTSecretFile)
	if err != nil {
		return nil, err
	}
	if secret == "" && o.JWTJWKS == "" {
		return nil, nil
	}
	if o.Auth == "off" {
		log.Warn("--auth=off: tokens are not verified, although jwt-secret or jwt-jwks is set")
		return nil, nil
	}
	v, err := auth.NewVerifier(ctx, auth.Config{
		Secret: []byte(secret), JWKS: o.JWTJWKS, Algorithms: o.JWTAlgorithms,
		Issuer: o.JWTIssuer, Audience: o.JWTAudience, Leeway: o.JWTLeeway, KeysExpireAfter: o.JWTKeysExpire,
		SubjectClaim: o.JWTSubjectClaim, GroupsClaims: o.JWTGroupsClaims, Logger: log,
	})
	if err != nil {
		key := "jwt-jwks"
		if secret != "" {
			key = "jwt-secret"
		}
		return nil, Wrong(key, "%w", err)
	}
	return v, nil
}

// secretOf is a secret that is given by itself or in a file.
func secretOf(key, value, file string) (string, error) {
	if file == "" {
		return value, nil
	}
	if value != "" {
		return "", Wrong(key, "it is given twice, by itself and by %s-file; drop one of them", key)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", Wrong(key+"-file", "%w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", Wrong(key+"-file", "%s is empty", file)
	}
	return secret, nil
}

// headerSecretOf is a secretOf that clients send in a header.
func headerSecretOf(key, value, file string) (string, error) {
	secret, err := secretOf(key, value, file)
	if err == nil && (strings.ContainsFunc(secret, unsendable) || strings.TrimSpace(secret) != secret) {
		return "", Wrong(key, "a header cannot carry it; use letters, digits and ASCII punctuation")
	}
	return secret, err
}

// unsendable reports whether a header cannot carry the character.
func unsendable(r rune) bool { return r < ' ' || r > '~' }

// WriteAuth is the secret of those who may append events, read the log, and do what /admin/ does.
type WriteAuth struct {
	WriteToken     string `help:"Token for appending events, reading the log, backups, /metrics and all of /admin/; better given by its variable, or by a file." group:"Who may write"`
	WriteTokenFile string `help:"File that holds the token." placeholder:"FILE" group:"Who may write"`
}

// Get is the token; "" where there is none.
func (o *WriteAuth) Get() (string, error) {
	return headerSecretOf("write-token", o.WriteToken, o.WriteTokenFile)
}
