package auth

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// Middleware puts the caller into the context of each request that carries a bearer token. A request without an
// Authorization header goes on as nobody's; one with a token that is not accepted is answered with 401.
func (v *Verifier) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers := r.Header.Values("Authorization")
		if len(headers) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		caller, err := v.verifyHeaders(r, headers)
		if err != nil {
			v.reject(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), caller)))
	})
}

func (v *Verifier) verifyHeaders(r *http.Request, headers []string) (Caller, error) {
	if len(headers) > 1 {
		return Caller{}, refuse(nil, "is not the only one: send one Authorization header")
	}
	token, ok := BearerToken(headers[0])
	if !ok {
		return Caller{}, refuse(nil, `is missing: send "Authorization: Bearer TOKEN"`)
	}
	return v.Verify(r.Context(), token)
}

// BearerToken returns the token of an Authorization header, if it has one.
func BearerToken(header string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", false
	}
	return token, true
}

// reject answers in the form of a GraphQL response, and counts that, but for a client that is gone.
func (v *Verifier) reject(w http.ResponseWriter, r *http.Request, err error) {
	var bad *TokenError
	if !errors.As(err, &bad) {
		if r.Context().Err() == nil {
			v.unavailable.Add(1)
		}
		w.Header().Set("Retry-After", "5")
		writeError(w, r, http.StatusServiceUnavailable, "UNAVAILABLE", ErrUnavailable.Error()+"; try again")
		return
	}
	v.unauthenticated.Add(1)
	v.cfg.Logger.LogAttrs(r.Context(), slog.LevelDebug, "token refused",
		slog.String("reason", bad.Reason), slog.Any("cause", bad.cause))
	w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	writeError(w, r, http.StatusUnauthorized, "UNAUTHENTICATED", bad.Error())
}

func writeError(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	type extensions struct {
		Code string `json:"code"`
	}
	type failure struct {
		Message    string     `json:"message"`
		Extensions extensions `json:"extensions"`
	}
	body, err := json.Marshal(map[string][]failure{"errors": {{message, extensions{code}}}})
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	contentType := "application/json; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), "application/graphql-response+json") {
		contentType = "application/graphql-response+json; charset=utf-8"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
