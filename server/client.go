package server

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
)

// remoteServer are the options of commands that talk to a running server.
type remoteServer struct {
	URL string `name:"url" help:"Address of the running server." default:"http://127.0.0.1:8080"`
	writeToken
}

// client talks to a running server.
type client struct {
	who   string // answers
	base  string
	token string
	http  *http.Client
}

func (o *remoteServer) client() (*client, error) {
	token, err := o.writeToken.get()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, wrongConfig("url", "%q is no address; write http://HOST:PORT", o.URL)
	}
	return &client{who: "the server", base: strings.TrimRight(o.URL, "/"), token: token, http: &http.Client{Timeout: 2 * time.Minute}}, nil
}

// remoteError is an answer of the server that is not the one hoped for.
type remoteError struct {
	Who    string `json:"-"` // has answered
	Status int    `json:"-"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Event  *int   `json:"event"` // index in the request, where it is about one event
	ID     string `json:"id"`
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (e *remoteError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s answered %d %s", e.Who, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s answered %d: %s", e.Who, e.Status, e.Detail)
}

// passing reports whether the same request may succeed later.
func passing(err error) bool {
	var answer *remoteError
	if errors.As(err, &answer) {
		return answer.Status >= 500 || answer.Status == http.StatusTooManyRequests
	}
	return !errors.Is(err, context.Canceled)
}

// do sends a request and reads its answer into to, nil where none is wanted.
func (c *client) do(ctx context.Context, method, path, mediaType string, body []byte, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		answer := &remoteError{}
		_ = json.Unmarshal(text, answer) // an answer without details is one of its status alone
		answer.Who, answer.Status = c.who, res.StatusCode
		return answer
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("the answer of %s is not understood; is a foldql server there? %w", c.base, err)
	}
	return nil
}
