package auth

import (
	"errors"
	"net/http"
	"time"
)

// fetching is the client with an end to what it waits for, as callers wait with it, and without redirects that give up
// encryption: whoever can change what comes over http could have the server take keys of theirs.
func fetching(client *http.Client) *http.Client {
	var c http.Client
	if client != nil {
		c = *client
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	follow := c.CheckRedirect
	if follow == nil {
		follow = followFew
	}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("it redirects from https to http, which is not followed: give the https address of the set")
		}
		return follow(req, via)
	}
	return &c
}

// followFew is what a client does that has no CheckRedirect.
func followFew(_ *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("it redirects more than 10 times")
	}
	return nil
}
