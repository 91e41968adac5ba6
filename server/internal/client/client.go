// Package client is how commands talk to a running server.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/foldql/foldql/server/internal/config"
)

// Server are the options of commands that talk to a running server.
type Server struct {
	URL string `name:"url" help:"Address of the running server." default:"http://127.0.0.1:8080"`
	config.WriteAuth
}

// Client talks to a running server.
type Client struct {
	Who   string // answers
	Base  string
	shown string        // where it answers
	user  *url.Userinfo // that --url has, nil for none; it is in no address, as errors show that
	token string
	Http  *http.Client
}

// String names what the client talks to.
func (c *Client) String() string { return c.shown }

// Client makes the client that the options ask for, and sends nothing yet. Its error is a config.Error.
func (o *Server) Client() (*Client, error) {
	token, err := o.WriteAuth.Get()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(o.URL, "?#") {
		return nil, config.Wrong("url", "what is given is no address of a server; write http://HOST:PORT, with no query")
	}
	user := u.User
	u.User = nil
	base := strings.TrimRight(u.String(), "/")
	return &Client{Who: "the server", Base: base, shown: base, user: user, token: token,
		Http: &http.Client{Timeout: 10 * time.Minute, CheckRedirect: stay, Transport: reaching{}}}, nil
}

// stay follows no redirect: it could take the token elsewhere, and makes a GET of a POST.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Error is an answer of the server that is not the one hoped for.
type Error struct {
	Who    string `json:"-"` // has answered
	Status int    `json:"-"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Event  *int   `json:"event"` // index in the request, where it is about one event
	ID     string `json:"id"`
	Field  string `json:"field"`
	Reason string `json:"reason"`

	NothingDone bool `json:"nothingDone"` // of what was asked, though it may be later
}

func (e *Error) Error() string {
	switch {
	case e.Detail == "" && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed):
		return fmt.Sprintf("%s answered %d %s: it may be of another version than this command: use the program that runs "+
			"there ('server version' tells its version), or give the address of a foldql server with --url", e.Who, e.Status,
			http.StatusText(e.Status))
	case e.Detail == "":
		return fmt.Sprintf("%s answered %d %s", e.Who, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s answered %d: %s", e.Who, e.Status, e.Detail)
}

// errForeign is in the error of an answer that says success, and that is none of a foldql server's.
var errForeign = errors.New("is a foldql server there? Give the address of one with --url")

// Temporary reports whether the same request may succeed later.
func Temporary(err error) bool {
	var answer *Error
	if errors.As(err, &answer) {
		return answer.Status >= 500 || answer.Status == http.StatusTooManyRequests
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, errForeign)
}

// MayBeDone reports whether the server may have done what it was asked, or a part of it, though it has not said so.
func MayBeDone(err error) bool {
	if isUnreached(err) {
		return false // it was not asked
	}
	if answer := (*Error)(nil); errors.As(err, &answer) && answer.NothingDone {
		return false
	}
	return Temporary(err) || errors.Is(err, context.Canceled)
}

// Answer is a JSON object that is read into a value, and that has a field which a foldql server always sends: what else
// answers at that address with success has another one, which would be read as nothing at all.
type Answer struct {
	Into any
	With string
}

func (a *Answer) read(text []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if _, has := fields[a.With]; !has {
		return fmt.Errorf("it has no %s", a.With)
	}
	return json.Unmarshal(text, a.Into)
}

// Do sends a request and reads its answer.
func (c *Client) Do(ctx context.Context, method, path, mediaType string, body []byte, answer Answer) error {
	req, err := c.request(ctx, method, path, mediaType, body)
	if err != nil {
		return err
	}
	res, err := c.Http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := c.read(res)
	if err != nil {
		return err
	}
	if err := answer.read(text); err != nil {
		return fmt.Errorf("the answer of %s is not understood: %w; %w", c.shown, err, errForeign)
	}
	return nil
}

// read reads a whole answer; one that is not the one hoped for is an *Error.
func (c *Client) read(res *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		answer := &Error{}
		_ = json.Unmarshal(text, answer) // an answer without details is one of its status alone
		answer.Who, answer.Status = c.Who, res.StatusCode
		if to, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
			answer.Detail = fmt.Sprintf("%s redirects to %s://%s, and no command follows; give --url the address at which "+
				"the server itself answers", c.shown, to.Scheme, to.Host)
		}
		return nil, answer
	}
	return text, nil
}

// Decide sends a request to do something, however long that takes. The server has done it if there is no error: any
// answer but the one without content may be of something else at that address.
func (c *Client) Decide(ctx context.Context, path string, body []byte) error {
	res, err := c.patiently(ctx, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		return fmt.Errorf("%s answered %d, and a foldql server answers %d when it has done it; is one at %s?", c.Who,
			res.StatusCode, http.StatusNoContent, c.shown)
	}
	return nil
}

// Stream sends a request whose answer may be long, and returns that. The caller closes it.
func (c *Client) Stream(ctx context.Context, path string, body []byte) (io.ReadCloser, error) {
	res, err := c.patiently(ctx, path, body)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// patiently sends a request without an end of the time for its answer, which it returns where it is one hoped for.
func (c *Client) patiently(ctx context.Context, path string, body []byte) (*http.Response, error) {
	req, err := c.request(ctx, http.MethodPost, path, "application/json", body)
	if err != nil {
		return nil, err
	}
	patient := *c.Http
	patient.Timeout = 0 // that of the context counts
	res, err := patient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		_, err := c.read(res)
		return nil, errors.Join(err, res.Body.Close())
	}
	return res, nil
}

func (c *Client) request(ctx context.Context, method, path, mediaType string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	switch {
	case c.token != "":
		req.Header.Set("Authorization", "Bearer "+c.token)
	case c.user != nil:
		password, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), password)
	}
	return req, nil
}
