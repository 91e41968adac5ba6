package auth

import (
	"bytes"
	"crypto"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// down is an issuer that nobody reaches.
type down struct{}

func (down) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("down") }

// said is what a verifier of the configuration logs at its start.
func said(t *testing.T, cfg Config) string {
	t.Helper()
	var log bytes.Buffer
	cfg.Logger, cfg.Client = slog.New(slog.NewTextHandler(&log, nil)), &http.Client{Transport: down{}}
	newVerifier(t, cfg)
	return log.String()
}

// TestKeysThatSignForOthersTooAreWarnedOf unless an issuer or an audience tells whose tokens are meant, or the keys are
// in a file, which somebody chose.
func TestKeysThatSignForOthersTooAreWarnedOf(t *testing.T) {
	const address = "https://issuer.test/keys"
	for name, c := range map[string]struct {
		cfg  Config
		warn bool
	}{
		"address alone": {Config{JWKS: address}, true},
		"with issuer":   {Config{JWKS: address, Issuer: "https://issuer.test/"}, false},
		"with audience": {Config{JWKS: address, Audience: []string{"api"}}, false},
		"file":          {Config{JWKS: jwksFile(t, map[string]crypto.Signer{"k": ecKey()})}, false},
		"secret":        {Config{Secret: sharedSecret}, false},
	} {
		log := said(t, c.cfg)
		warned := strings.Contains(log, "level=WARN") && strings.Contains(log, "--jwt-issuer, --jwt-audience")
		if warned != c.warn {
			t.Errorf("%s: warned %t, want %t:\n%s", name, warned, c.warn, log)
		}
	}
}

// TestKeysThatComeOverHTTPAreWarnedOf unless they come from this machine.
func TestKeysThatComeOverHTTPAreWarnedOf(t *testing.T) {
	for address, warn := range map[string]bool{
		"http://issuer.test/keys?apikey=hunter2": true,
		"http://10.0.0.1/keys":                   true,
		"https://issuer.test/keys":               false,
		"http://localhost:8080/keys":             false,
		"http://issuer.localhost/keys":           false,
		"http://127.0.0.1:8080/keys":             false,
		"http://[::1]:8080/keys":                 false,
	} {
		log := said(t, Config{JWKS: address, Issuer: "issuer"})
		if warned := strings.Contains(log, "level=WARN") && strings.Contains(log, "over http"); warned != warn {
			t.Errorf("%s: warned %t, want %t:\n%s", address, warned, warn, log)
		}
		if strings.Contains(log, "hunter2") {
			t.Errorf("%s: the log has the secret:\n%s", address, log)
		}
	}
}
