package httpsource

import (
	"context"
	"errors"
	"io"
	"time"
)

// progress gives up a request when nothing has come for a while, however long its answer takes as a whole.
type progress struct {
	ctx  context.Context
	end  context.CancelFunc
	late *time.Timer
}

var errStalled = errors.New("the server has sent nothing for a minute")

// watch returns a context that ends when nothing comes for a while.
func watch(ctx context.Context) (context.Context, *progress) {
	ctx, end := context.WithCancelCause(ctx)
	late := time.AfterFunc(patience, func() { end(errStalled) })
	return ctx, &progress{ctx, func() { late.Stop(); end(nil) }, late}
}

// of is the body of the answer.
func (p *progress) of(body io.Reader) io.Reader { return coming{body, p.late} }

// why is the reason of an error of the request: that it was given up, where it was.
func (p *progress) why(err error) error {
	if context.Cause(p.ctx) == errStalled {
		return errStalled
	}
	return err
}

// coming is a body on its way.
type coming struct {
	io.Reader
	late *time.Timer
}

func (c coming) Read(part []byte) (n int, err error) {
	if n, err = c.Reader.Read(part); n > 0 {
		c.late.Reset(patience)
	}
	return n, err
}
