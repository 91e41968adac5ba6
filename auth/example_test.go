package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/foldql/foldql/auth"
)

// A handler behind the middleware knows who asks. Who brings a token that is not accepted does not reach it.
func ExampleVerifier_Middleware() {
	now := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	secret := []byte("at least thirty-two bytes of chance")
	verifier, err := auth.NewVerifier(context.Background(), auth.Config{
		Secret: secret, Issuer: "https://issuer.example", Now: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := verifier.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, known := auth.FromContext(r.Context()); known {
			fmt.Fprint(w, caller.Subject, " ", caller.Groups)
			return
		}
		fmt.Fprint(w, "nobody")
	}))
	ask := func(expires time.Duration) {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		if expires != 0 {
			token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
				"sub": "ann", "groups": []string{"Admin"}, "iss": "https://issuer.example", "exp": now.Add(expires).Unix(),
			}).SignedString(secret)
			if err != nil {
				fmt.Println(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+token)
		}
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	ask(0)
	ask(time.Hour)
	ask(-time.Hour)
	// Output:
	// 200 nobody
	// 200 ann [Admin]
	// 401 {"errors":[{"message":"the token has expired","extensions":{"code":"UNAUTHENTICATED"}}]}
}
