package hostile

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"
)

// secret signs the tokens of the shop.
var secret = []byte("the secret of a shop that never was, 32 bytes at least")

// caller is somebody who asks.
type caller struct{ subject, claims string }

// The callers. They may read the bills of nobody, of everybody, of the account acct-3, and of nobody.
var (
	nobody  = caller{}
	boss    = caller{"boss", `{"sub":"boss","groups":["Staff","Admin"],"exp":4102444800}`}
	owner   = caller{"user-3", `{"sub":"user-3","exp":4102444800}`}
	another = caller{"user-99", `{"sub":"user-99","cognito:groups":["Guests"],"exp":4102444800}`}
	callers = []caller{nobody, boss, owner, another}
)

const plainHeader = `{"alg":"HS256","typ":"JWT"}`

// token is the caller's own, "" for nobody's.
func (c caller) token() string {
	if c.claims == "" {
		return ""
	}
	return sign(plainHeader, c.claims, sha256.New, secret)
}

// as has the caller ask.
func (q *request) as(c caller) *request {
	if t := c.token(); t != "" {
		q.header.Set("Authorization", "Bearer "+t)
	}
	return q
}

// sign makes a token of any header and claims.
func sign(header, claims string, hash func() hash.Hash, key []byte) string {
	text := encode(header) + "." + encode(claims)
	h := hmac.New(hash, key)
	h.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// bearer makes a request with a token that is not what it should be.
func (a *attacker) bearer(d dice) *request {
	bill := fmt.Sprintf("inv-%d-%d", d.IntN(10), d.IntN(3))
	doc := fmt.Sprintf(`{Billing_Invoice(id:%q){subject amount} Sales_OrderCount{orders}}`, bill)
	q := draw(d, []weighted[func(dice, *request)]{
		{25, genuine}, {30, forged}, {15, unacceptable}, {10, odd}, {20, alien},
	})
	r := post("", doc, "")
	q(d, r)
	return r
}

// genuine is somebody's own token: the bill is theirs to see or it is not.
func genuine(d dice, q *request) {
	c := pick(d, callers)
	q.kind, q.want = "jwt/genuine", func(a *answer) error {
		shown := strings.Contains(a.body.String(), `"amount"`)
		may := c.subject == boss.subject || c.subject == owner.subject && strings.Contains(q.body, "inv-3-")
		switch {
		case shown != may:
			return fmt.Errorf("%q is shown the bill: %t, may see it: %t", c.subject, shown, may)
		case !strings.Contains(a.body.String(), `"orders"`):
			return errors.New("what everybody may read is not shown")
		}
		return nil
	}
	q.as(c)
}

// forged is a token that the shop never signed.
func forged(d dice, q *request) {
	q.kind, q.want = "jwt/forged", unauthenticated
	whole := boss.token()
	parts := strings.Split(whole, ".")
	token := whole
	switch d.IntN(9) {
	case 0:
		none := pick(d, []string{"none", "None", "NONE", "nOnE", "", "HS257", "null"})
		token = encode(`{"alg":`+quoted(none)+`}`) + "." + parts[1] + "." + pick(d, []string{"", parts[2]})
	case 1:
		token = sign(plainHeader, boss.claims, sha256.New, pick(d, [][]byte{nil, []byte("secret"), secret[:31], secret[1:]}))
	case 2:
		token = sign(`{"alg":"RS256"}`, boss.claims, sha256.New, secret)
	case 3:
		token = sign(pick(d, []string{`{"alg":"HS512"}`, `{"alg":"HS384"}`}), boss.claims, sha512.New, secret)
	case 4: // another's claims under the signature
		token = parts[0] + "." + encode(`{"sub":"boss","groups":["Admin"],"exp":4102444801}`) + "." + parts[2]
	case 5: // another header over the signature
		token = encode(pick(d, []string{`{"alg":"HS256"}`, `{"alg":"HS256","typ":"JWT","kid":"../../dev/null"}`})) + "." +
			parts[1] + "." + parts[2]
	case 6, 7: // any change at all
		i := d.IntN(3)
		parts[i] = d.changed(parts[i])
		token = strings.Join(parts, ".")
	case 8:
		token = d.changed(whole)
	}
	if token = headerValue(token); token == whole { // what was changed is what no header can hold
		token += "."
	}
	q.header["Authorization"] = []string{"Bearer " + token}
}

// headerValue leaves out what no header can hold; a server would not hand it on, and spaces around are not part of it.
func headerValue(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text))
}

// unacceptable is a token that the shop signed and does not accept.
func unacceptable(d dice, q *request) {
	q.kind, q.want = "jwt/unacceptable", unauthenticated
	header, claims := plainHeader, pick(d, []string{
		`{"sub":"boss","groups":["Admin"]}`, `{"sub":"boss","exp":1}`, `{"sub":"boss","exp":-1e300}`,
		`{"sub":"boss","exp":"4102444800"}`,
		`{"sub":"boss","exp":null}`, `{"sub":"boss","exp":4102444800,"nbf":4102444799}`, `{"sub":7,"exp":4102444800}`,
		`{"sub":["boss"],"exp":4102444800}`, `{"sub":"boss","groups":{"Admin":true},"exp":4102444800}`, `[]`, `null`,
		`"boss"`, ``, `{`,
		`{"sub":"boss","groups":["Admin",1],"exp":4102444800}`, `{"sub":"boss","exp":[]}`,
		`{"sub":"boss","exp":4102444800,"nbf":{}}`, strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
	})
	if d.chance(30) {
		claims = boss.claims
		header = pick(d, []string{
			`{"alg":"HS256","crit":["b64"],"b64":false}`, `{"alg":"HS256","kid":7}`, `{"alg":["HS256"]}`, `{"alg":{}}`, `[]`,
			`{`, ``, `null`,
			`{"typ":"JWT"}`, `{"alg":"HS256","kid":["a"]}`, `{"alg":7}`,
		})
	}
	token := sign(header, claims, sha256.New, secret)
	if d.chance(10) {
		token = sign(plainHeader, `{"sub":"`+strings.Repeat("b", 13_000)+`","exp":4102444800}`, sha256.New, secret)
	}
	q.header["Authorization"] = []string{"Bearer " + token}
}

// odd is a token that nobody would make, and that is none the less good.
func odd(d dice, q *request) {
	q.kind, q.want = "jwt/odd", func(a *answer) error {
		if a.status != http.StatusOK {
			return fmt.Errorf("a good token is answered with %d", a.status)
		}
		return nil
	}
	claims := pick(d, []string{
		`{"exp":4102444800}`, `{"sub":"","exp":4102444800}`, `{"sub":null,"groups":null,"exp":4102444800}`,
		`{"sub":"a\u0000b","exp":4102444800}`,
		`{"sub":"` + strings.Repeat("s", 8000) + `","exp":4102444800}`, `{"sub":"boss","groups":"Admin","exp":4102444800}`,
		`{"sub":"boss","groups":[],"exp":4102444800.5}`, `{"sub":"boss","exp":4102444800,"x":` + strings.Repeat("[", 90) +
			strings.Repeat("]", 90) + "}",
		`{"sub":"\ud800","exp":4102444800}`, `{"sub":"boss","exp":4102444800,"nbf":0,"iat":-1}`,
	})
	header := pick(d, []string{plainHeader, `{"alg":"HS256"}`, `{"alg":"HS256","kid":""}`,
		`{"alg":"HS256","kid":"any","x5u":"http://127.0.0.1/"}`})
	q.header["Authorization"] = []string{pick(d, []string{"Bearer ", "bearer ", "BEARER  "}) + sign(header, claims,
		sha256.New, secret)}
}

// alien is no token at all, or not the only one.
func alien(d dice, q *request) {
	q.kind, q.want = "jwt/alien", unauthenticated
	good := "Bearer " + boss.token()
	values := pick(d, [][]string{
		{""}, {"Bearer"}, {"Bearer "}, {"Bearer ."}, {"Bearer .."}, {"Bearer ..."}, {"Basic Ym9zczpib3Nz"}, {good,
			good}, {"", good},
		{good + " " + good}, {good + ","}, {strings.TrimPrefix(good, "Bearer ")},
		{"Bearer " + strings.Repeat("e30.", 10_000)},
		{"Bearer " + strings.ReplaceAll(boss.token(), ".", "..")}, {"Bearer " + boss.token() + "="},
		{"Digest username=\"boss\""},
	})
	if d.chance(30) {
		values = []string{"Bearer " + headerValue(d.text())}
	}
	q.header["Authorization"] = slices.Clone(values)
}
