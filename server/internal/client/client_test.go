package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/server/internal/config"
)

func at(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := (&Server{URL: srv.URL, WriteAuth: config.WriteAuth{WriteToken: "the-secret"}}).Client()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnAddressHasNoQuery, not even an empty one: the paths of requests would be in it.
func TestAnAddressHasNoQuery(t *testing.T) {
	for _, url := range []string{"http://h?token=secret", "http://h?", "http://h/#", "http://h/?#"} {
		if _, err := (&Server{URL: url}).Client(); err == nil || !strings.Contains(err.Error(), "with no query") {
			t.Errorf("%s: error %v, want one that says so", url, err)
		}
	}
}

// asks are the three ways to ask.
var asks = map[string]func(*Client, *testing.T) error{
	"Do": func(c *Client, t *testing.T) error {
		var list struct{ Items []string }
		return c.Do(t.Context(), "POST", "/x", "application/json", []byte("{}"), Answer{Into: &list, With: "items"})
	},
	"Decide": func(c *Client, t *testing.T) error { return c.Decide(t.Context(), "/x", []byte("{}")) },
	"Stream": func(c *Client, t *testing.T) error {
		answer, err := c.Stream(t.Context(), "/x", []byte("{}"))
		if err == nil {
			answer.Close()
		}
		return err
	},
}

// TestNoRedirectIsFollowed: neither the request nor the token comes to another address.
func TestNoRedirectIsFollowed(t *testing.T) {
	var followed atomic.Int64
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		followed.Add(1)
		_, _ = io.WriteString(w, "{}")
	}))
	defer login.Close()
	host := strings.TrimPrefix(login.URL, "http://")
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := at(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, login.URL+"/login?session=private", status)
		})
		for name, ask := range asks {
			err := ask(c, t)
			if err == nil || !strings.Contains(err.Error(), "redirects to http://"+host+",") ||
				strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "private") {
				t.Errorf("%s, answered %d: %v", name, status, err)
			}
			if Temporary(err) {
				t.Errorf("%s, answered %d, is tried again", name, status)
			}
		}
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("%d requests were sent elsewhere", n)
	}
}

// TestAnAnswerWithoutWhatAServerSendsIsNone: read as what was asked for, it would be an empty list.
func TestAnAnswerWithoutWhatAServerSendsIsNone(t *testing.T) {
	for body, isServers := range map[string]bool{
		`{"items":["a"]}`: true, `{"items":[]}`: true, `{"items":null,"more":true}`: true,
		`{}`: false, `{"status":"ok"}`: false, `[]`: false, `null`: false, `<html>`: false, ``: false,
	} {
		c := at(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		err := asks["Do"](c, t)
		if (err == nil) != isServers {
			t.Errorf("answered %s: %v", body, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "is a foldql server there?") || Temporary(err)) {
			t.Errorf("answered %s: %v, tried again: %t", body, err, Temporary(err))
		}
	}
}

// TestAPathThatTheServerDoesNotKnowIsToldFromWhatItLacks: a server of another version knows other paths, and says
// nothing of them but that.
func TestAPathThatTheServerDoesNotKnowIsToldFromWhatItLacks(t *testing.T) {
	const remedy = "it may be of another version than this command"
	for _, tt := range []struct {
		status int
		body   string
		told   bool
	}{
		{404, "404 page not found\n", true}, {405, "Method Not Allowed\n", true}, {404, "", true},
		{404, `{"title":"Not Found","detail":"no projection of that name"}`, false}, {500, "", false}, {403, "", false},
	} {
		c := at(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		for name, ask := range asks {
			if err := ask(c, t); err == nil || strings.Contains(err.Error(), remedy) != tt.told {
				t.Errorf("%s, answered %d %q: %v", name, tt.status, tt.body, err)
			}
		}
	}
}

// TestADecisionIsCarriedOutWhereTheAnswerHasNoContent, and by no other success.
func TestADecisionIsCarriedOutWhereTheAnswerHasNoContent(t *testing.T) {
	for _, status := range []int{200, 201, 202, 204} {
		c := at(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if err := asks["Decide"](c, t); (err == nil) != (status == http.StatusNoContent) {
			t.Errorf("answered %d: %v", status, err)
		}
	}
}

// TestNoUserOfAnAddressIsShown: neither what a command talks to, nor an error, repeats one that stands in --url, which
// may be a token, or its password.
func TestNoUserOfAnAddressIsShown(t *testing.T) {
	for status, location := range map[int]string{200: "", 302: "/elsewhere"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "me-secret" || password != "secret" {
				t.Errorf("the server is shown the user %q with the password %q", user, password)
			}
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		}))
		host := strings.TrimPrefix(srv.URL, "http://")
		c, err := (&Server{URL: "http://me-secret:secret@" + host + "/"}).Client()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.String(); got != "http://"+host {
			t.Errorf("the address is shown as %s", got)
		}
		for _, name := range []string{"Do", "Decide"} {
			if err := asks[name](c, t); err == nil || strings.Contains(err.Error(), "secret") ||
				!strings.Contains(err.Error(), host) && status == http.StatusOK {
				t.Errorf("%s, answered %d: %v", name, status, err)
			}
		}
		srv.Close()
		if err := asks["Do"](c, t); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("where nobody answers: %v", err)
		}
	}
	for _, url := range []string{"http://h?token=secret", "http://h#secret", "u:secret@h", "http://u:secret@", "h/%zz"} {
		if _, err := (&Server{URL: url}).Client(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one without the secret", url, err)
		}
	}
}

// TestWhoReachesNoServerIsToldWhatToDo, whatever is asked.
func TestWhoReachesNoServerIsToldWhatToDo(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	c, err := (&Server{URL: gone.URL}).Client()
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range asks {
		err := ask(c, t)
		if err == nil || !strings.HasSuffix(err.Error(), ": start the server, or give its address with --url") {
			t.Errorf("%s: %v", name, err)
		}
		if MayBeDone(err) {
			t.Errorf("%s: the server may have done it, though nobody was asked", name)
		}
	}
}
