package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Config says which tokens are accepted, and which claims say who the caller is. Exactly one of Secret and JWKS is
// needed; the zero value of everything else means the default.
type Config struct {
	// Secret verifies HS256, HS384 and HS512; at least 32 bytes.
	Secret []byte
	// JWKS is the path of a file, or the http or https address, of a JSON Web Key Set with public keys.
	JWKS string
	// Algorithms are those accepted: HS256 by default with a Secret; with JWKS every asymmetric one.
	Algorithms []string
	// Issuer and Audience are asked of every token where they are given; one of the audiences is enough. Without them a
	// key set verifies all tokens that its keys sign, also those that an issuer makes for other applications.
	Issuer   string
	Audience []string
	// Leeway is how far the issuer's clock may be from ours; 0 by default.
	Leeway time.Duration
	// SubjectClaim names the caller, "sub" by default; GroupsClaims are the lists of groups, "groups" and
	// "cognito:groups" by default, all those present taken together. A name with dots that is no claim itself is a path
	// into nested objects: "realm_access.roles".
	SubjectClaim string
	GroupsClaims []string
	// MaxTokenSize is how many bytes a token may have; 16 KiB by default.
	MaxTokenSize int
	// RefetchAfter is the least time between two reads of the key set that tokens signed with none of its keys cause;
	// 10 s by default. MaxKeyAge is how long keys serve before the set is read again; 15 min by default.
	RefetchAfter, MaxKeyAge time.Duration
	// KeysExpireAfter is how long keys serve after the set was last read, where it cannot be read any more; 1 h by
	// default.
	KeysExpireAfter time.Duration
	// Client fetches the key set; one without a timeout gets one of 5 s. It follows no redirect from https to http.
	Client *http.Client
	// Now is the clock; time.Now by default.
	Now func() time.Time
	// Logger logs when a key set cannot be read, and warns of one that lets in more tokens than may be meant; nothing is
	// logged by default.
	Logger *slog.Logger
}

var (
	symmetric  = []string{"HS256", "HS384", "HS512"}
	asymmetric = []string{
		"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
	}
)

// minSecret is the size of the hash of HS256: a shorter secret is easier to guess than the hash.
const minSecret = 32

func (c Config) withDefaults() Config {
	if c.SubjectClaim == "" {
		c.SubjectClaim = "sub"
	}
	if len(c.GroupsClaims) == 0 {
		c.GroupsClaims = []string{"groups", "cognito:groups"}
	}
	if c.MaxTokenSize == 0 {
		c.MaxTokenSize = 16 << 10
	}
	if c.RefetchAfter == 0 {
		c.RefetchAfter = 10 * time.Second
	}
	if c.MaxKeyAge == 0 {
		c.MaxKeyAge = 15 * time.Minute
	}
	if c.KeysExpireAfter == 0 {
		c.KeysExpireAfter = time.Hour
	}
	c.Client = fetching(c.Client)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = asymmetric
		if len(c.Secret) > 0 {
			c.Algorithms = symmetric[:1]
		}
	}
	return c
}

// validate expects the defaults to be filled in. It never shows the secret.
func (c *Config) validate() error {
	switch {
	case len(c.Secret) == 0 && c.JWKS == "":
		return errors.New("nothing to verify tokens with: give a secret, or a JWKS file or address")
	case len(c.Secret) > 0 && c.JWKS != "":
		return errors.New("a secret and a JWKS are both given: tokens are verified with one of them, drop the other")
	case c.JWKS == "" && len(c.Secret) < minSecret:
		return fmt.Errorf("the secret has %d bytes, and needs %d at least", len(c.Secret), minSecret)
	case c.Leeway < 0 || c.MaxTokenSize < 0 || c.RefetchAfter < 0 || c.MaxKeyAge < 0 || c.KeysExpireAfter < 0:
		return errors.New("the leeway, the sizes and the times must not be negative")
	}
	if strings.Contains(c.JWKS, "://") && !remote(c.JWKS) {
		return fmt.Errorf("JWKS %q is neither a file nor an http or https address", shown(c.JWKS))
	}
	return c.validateAlgorithms()
}

// validateAlgorithms keeps symmetric algorithms away from public keys, and the other way round.
func (c *Config) validateAlgorithms() error {
	usable, with := asymmetric, "a JWKS"
	if len(c.Secret) > 0 {
		usable, with = symmetric, "a secret"
	}
	for _, alg := range c.Algorithms {
		if !slices.Contains(usable, alg) {
			return fmt.Errorf("algorithm %q cannot be used with %s: choose of %s", alg, with, strings.Join(usable, ", "))
		}
	}
	return nil
}

// remote reports whether the key set is to be fetched.
func remote(jwks string) bool {
	u, err := url.Parse(jwks)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// shown is an address as messages may show it: without a password, and without a query, as that may hold a key of the
// issuer's API.
func shown(jwks string) string {
	scheme, _, isAddress := strings.Cut(jwks, "://")
	if !isAddress {
		return jwks
	}
	u, err := url.Parse(jwks)
	if err != nil {
		return scheme + "://…"
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	return u.Redacted()
}
