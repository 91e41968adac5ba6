package auth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

func TestTokenIsAcceptedOrRefusedWithItsReason(t *testing.T) {
	c := newClock()
	hs := jwt.SigningMethodHS256
	cfg := Config{Secret: sharedSecret, Now: c.now, Issuer: "issuer", Audience: []string{"app", "other"},
		Leeway: 10 * time.Second}
	v := newVerifier(t, cfg)
	good := jwt.MapClaims{"iss": "issuer", "aud": "app"}
	with := func(others jwt.MapClaims) string {
		claims := claimsAt(c.now(), good)
		for k, value := range others {
			claims[k] = value
		}
		return sign(t, hs, sharedSecret, "", claims)
	}
	unix := func(d time.Duration) int64 { return c.now().Add(d).Unix() }
	for _, tc := range []struct{ name, token, refused string }{
		{"good", with(nil), ""},
		{"one of several audiences", with(jwt.MapClaims{"aud": []string{"x", "other"}}), ""},
		{"expired within the leeway", with(jwt.MapClaims{"exp": unix(-5 * time.Second)}), ""},
		{"expired", with(jwt.MapClaims{"exp": unix(-11 * time.Second)}), "has expired"},
		{"without expiry", with(jwt.MapClaims{"exp": nil}), "lacks a claim"},
		{"expiry that is no number", with(jwt.MapClaims{"exp": "tomorrow"}), "not valid"},
		{"not yet valid", with(jwt.MapClaims{"nbf": unix(time.Minute)}), "not valid yet"},
		{"valid within the leeway", with(jwt.MapClaims{"nbf": unix(5 * time.Second)}), ""},
		{"other audience", with(jwt.MapClaims{"aud": "elsewhere"}), "another audience"},
		{"no audience", with(jwt.MapClaims{"aud": nil}), "lacks a claim"},
		{"other issuer", with(jwt.MapClaims{"iss": "mallory"}), "another issuer"},
		{"no issuer", with(jwt.MapClaims{"iss": nil}), "lacks a claim"},
		{"other secret", sign(t, hs, []byte("another secret of at least 32 bytes!"), "", claimsAt(c.now(), good)),
			"not signed"},
		{"algorithm not configured", sign(t, jwt.SigningMethodHS512, sharedSecret, "", claimsAt(c.now(), good)),
			"not signed"},
		{"none", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", claimsAt(c.now(), good)), "not signed"},
		{"subject that is no string", with(jwt.MapClaims{"sub": 7}), `claim "sub" that is no string`},
		{"groups that are no strings", with(jwt.MapClaims{"groups": []int{1}}), "neither a string nor a list"},
		{"empty", "", "malformed"},
		{"no token", "not.a.token", "malformed"},
		{"two parts", "e30.e30", "malformed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			caller, err := v.Verify(t.Context(), tc.token)
			if tc.refused != "" {
				wantRefused(t, err, tc.refused)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if caller.Subject != "user-1" {
				t.Errorf("subject %q, want user-1", caller.Subject)
			}
		})
	}
}

func TestEveryChangeOfATokenIsNoticed(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{Secret: sharedSecret, Now: c.now})
	token := sign(t, jwt.SigningMethodHS256, sharedSecret, "", claimsAt(c.now(), nil))
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	for i := range token {
		for _, other := range []byte{'A', 'b', '.', '=', '\n'} {
			if token[i] == other {
				continue
			}
			changed := token[:i] + string(other) + token[i+1:]
			if _, err := v.Verify(t.Context(), changed); err == nil {
				t.Fatalf("accepted with %q at %d instead of %q", other, i, token[i])
			}
		}
	}
}

func TestPublicKeyNeverVerifiesASymmetricSignature(t *testing.T) {
	c := newClock()
	public := rsaKey().Public()
	der := must(x509.MarshalPKIXPublicKey(public))
	v := newVerifier(t, Config{JWKS: jwksFile(t, map[string]crypto.Signer{"k": rsaKey()}), Now: c.now})
	for name, secret := range map[string][]byte{
		"modulus": rsaKey().N.Bytes(),
		"der":     der,
		"pem":     pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, "k", claimsAt(c.now(), nil)))
			wantRefused(t, err, "not signed")
		})
	}
	_, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "k",
		claimsAt(c.now(), nil)))
	wantRefused(t, err, "not signed")
}

func TestKeyServesItsOwnAlgorithmsOnly(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{Now: c.now, JWKS: jwksFile(t, map[string]crypto.Signer{"rsa": rsaKey(), "ec": ecKey()})})
	for _, tc := range []struct {
		name    string
		method  jwt.SigningMethod
		key     any
		kid     string
		refused string
	}{
		{"RSA", jwt.SigningMethodRS256, rsaKey(), "rsa", ""},
		{"RSA-PSS", jwt.SigningMethodPS256, rsaKey(), "rsa", ""},
		{"EC", jwt.SigningMethodES256, ecKey(), "ec", ""},
		{"no key id: every key of the kind is tried", jwt.SigningMethodES256, ecKey(), "", ""},
		{"RSA under the id of EC", jwt.SigningMethodRS256, rsaKey(), "ec", "unknown key"},
		{"unknown key id", jwt.SigningMethodRS256, rsaKey(), "gone", "unknown key"},
		{"another key under a known id", jwt.SigningMethodRS256, otherRSA(), "rsa", "not signed"},
		{"another key without id", jwt.SigningMethodRS256, otherRSA(), "", "not signed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := v.Verify(t.Context(), sign(t, tc.method, tc.key, tc.kid, claimsAt(c.now(), nil)))
			if tc.refused != "" {
				wantRefused(t, err, tc.refused)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCriticalExtensionsAreRefused(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{Secret: sharedSecret, Now: c.now})
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claimsAt(c.now(), nil))
	token.Header["crit"] = []string{"b64"}
	_, err := v.Verify(t.Context(), must(token.SignedString(sharedSecret)))
	wantRefused(t, err, "critical extensions")
}

func TestHugeTokenIsRefusedBeforeItIsRead(t *testing.T) {
	c := newClock()
	v := newVerifier(t, Config{Secret: sharedSecret, Now: c.now, MaxTokenSize: 1000})
	fits := sign(t, jwt.SigningMethodHS256, sharedSecret, "", claimsAt(c.now(), nil))
	if _, err := v.Verify(t.Context(), fits); err != nil {
		t.Fatal(err)
	}
	huge := sign(t, jwt.SigningMethodHS256, sharedSecret, "",
		claimsAt(c.now(), jwt.MapClaims{"x": strings.Repeat("x", 1000)}))
	_, err := v.Verify(t.Context(), huge)
	wantRefused(t, err, "more than 1000 bytes")
}

func TestClaimsSayWhoTheCallerIs(t *testing.T) {
	c := newClock()
	for _, tc := range []struct {
		name   string
		cfg    Config
		claims jwt.MapClaims
		want   Caller
	}{
		{"defaults", Config{}, jwt.MapClaims{"groups": []string{"a", "b"}}, Caller{"user-1", []string{"a", "b"}}},
		{"one group, with a space in it", Config{}, jwt.MapClaims{"groups": "site admins"},
			Caller{"user-1", []string{"site admins"}}},
		{"cognito", Config{}, jwt.MapClaims{"cognito:groups": []string{"staff"}}, Caller{"user-1", []string{"staff"}}},
		{"both", Config{}, jwt.MapClaims{"groups": "a", "cognito:groups": []string{"b"}},
			Caller{"user-1", []string{"a", "b"}}},
		{"none", Config{}, jwt.MapClaims{"sub": nil, "groups": nil}, Caller{}},
		{
			"nested", Config{SubjectClaim: "user.id", GroupsClaims: []string{"realm_access.roles"}},
			jwt.MapClaims{"user": map[string]any{"id": "u7"}, "realm_access": map[string]any{"roles": []string{"r"}}},
			Caller{"u7", []string{"r"}},
		},
		{
			"a name with dots", Config{GroupsClaims: []string{"https://example.com/groups"}},
			jwt.MapClaims{"https://example.com/groups": []string{"g"}}, Caller{"user-1", []string{"g"}},
		},
		{
			"a path through what is no object", Config{GroupsClaims: []string{"sub.roles"}}, nil, Caller{Subject: "user-1"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.cfg.Secret, tc.cfg.Now = sharedSecret, c.now
			v := newVerifier(t, tc.cfg)
			got, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, sharedSecret, "", claimsAt(c.now(), tc.claims)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigurationThatWouldNotProtectIsRefused(t *testing.T) {
	file := jwksFile(t, map[string]crypto.Signer{"k": ecKey()})
	emptyFile := file + ".empty"
	if err := os.WriteFile(emptyFile, []byte(`{"keys":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	weak := must(rsa.GenerateKey(rand.Reader, 1024))
	for _, tc := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"nothing", Config{}, "nothing to verify tokens with"},
		{"both", Config{Secret: sharedSecret, JWKS: file}, "drop the other"},
		{"short secret", Config{Secret: []byte("hunter2")}, "has 7 bytes, and needs 32"},
		{"symmetric with public keys", Config{JWKS: file, Algorithms: []string{"HS256"}}, "cannot be used with a JWKS"},
		{"asymmetric with a secret", Config{Secret: sharedSecret, Algorithms: []string{"RS256"}},
			"cannot be used with a secret"},
		{"none", Config{Secret: sharedSecret, Algorithms: []string{"none"}}, "cannot be used"},
		{"no such file", Config{JWKS: file + ".gone"}, "no such file"},
		{"other scheme", Config{JWKS: "ftp://example.com/jwks"}, "neither a file nor"},
		{"file without keys", Config{JWKS: emptyFile}, "no public key"},
		{"weak key", Config{JWKS: jwksFile(t, map[string]crypto.Signer{"k": weak})}, "no public key"},
		{"negative leeway", Config{Secret: sharedSecret, Leeway: -1}, "negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewVerifier(t.Context(), tc.cfg)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
			if len(tc.cfg.Secret) > 0 && strings.Contains(err.Error(), string(tc.cfg.Secret)) {
				t.Error("the error shows the secret")
			}
		})
	}
}

// FuzzVerify holds Verify to its promise: whatever comes, no panic, and nobody gets in but by the token that was
// issued.
func FuzzVerify(f *testing.F) {
	c := newClock()
	v := newVerifier(f, Config{Secret: sharedSecret, Now: c.now})
	good := sign(f, jwt.SigningMethodHS256, sharedSecret, "", claimsAt(c.now(), jwt.MapClaims{"groups": []string{"a"}}))
	b64 := base64.RawURLEncoding
	f.Add(good)
	f.Add(b64.EncodeToString([]byte(`{"alg":"none"}`)) + "." + b64.EncodeToString([]byte(`{"sub":"x"}`)) + ".")
	f.Add(b64.EncodeToString([]byte(`{"alg":["HS256"],"kid":7}`)) + ".e30.e30")
	f.Add(strings.Repeat("e30.", 100))
	f.Fuzz(func(t *testing.T, token string) {
		_, err := v.Verify(t.Context(), token)
		if err == nil && token != good {
			t.Fatalf("accepted %q", token)
		}
	})
}
