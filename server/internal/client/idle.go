package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Idle is how long an answer may stay away before it is given up.
type Idle struct {
	First time.Duration // until it begins
	Next  time.Duration // until there is more of it
}

// silentError says that the server has sent nothing for so long.
type silentError struct {
	who   string
	quiet time.Duration
}

// Error implements error.
func (e *silentError) Error() string {
	return fmt.Sprintf("%s has sent nothing for %s, as one that hangs: look at it, and ask again", e.who, e.quiet)
}

// StreamWithin is Stream that gives an answer up which stays away: a server that hangs keeps its connections.
func (c *Client) StreamWithin(ctx context.Context, path string, body []byte, idle Idle) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	first := time.AfterFunc(idle.First, func() { cancel(&silentError{c.Who, idle.First}) })
	from, err := c.Stream(ctx, path, body)
	first.Stop()
	if err != nil {
		err = silent(ctx, err)
		cancel(nil)
		return nil, err
	}
	return &bounded{from, ctx, cancel, silentError{c.Who, idle.Next}}, nil
}

// silent is the error of a request, or that the server has sent nothing, where it was given up for that.
func silent(ctx context.Context, err error) error {
	if why := (*silentError)(nil); errors.As(context.Cause(ctx), &why) {
		return why
	}
	return err
}

// bounded is an answer of which each piece comes in time.
type bounded struct {
	io.ReadCloser
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	late   silentError
}

// Read implements io.Reader. The time that whoever reads takes between two pieces does not count.
func (b *bounded) Read(into []byte) (int, error) {
	defer time.AfterFunc(b.late.quiet, func() { b.cancel(&b.late) }).Stop()
	n, err := b.ReadCloser.Read(into)
	if err != nil && err != io.EOF {
		err = silent(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *bounded) Close() error {
	b.cancel(nil)
	return b.ReadCloser.Close()
}
