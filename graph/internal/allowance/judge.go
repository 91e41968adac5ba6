package allowance

import (
	"context"
	"errors"

	"github.com/foldql/foldql/querydb/driver"
)

// ErrClosed is the error of an operation of which more keys lead to no row of the caller's than may.
var ErrClosed = errors.New("more keys lead to no row of the caller's than may")

// Judge has the rows of so many keys read for a caller who may get their own only; read says how many keys lead to one,
// and holds no others any more when it returns. Nothing is charged for what is read, or what is left would tell of the
// rows of others. Instead, few rows of an operation are in memory before they are judged, and a limited number of its
// keys may lead to no own row, be that another's or none.
func (l Left) Judge(ctx context.Context, keys int, read func(ctx context.Context) (own int, err error)) error {
	judged, err := l.Hidden.Judge(ctx, keys)
	if err != nil {
		return err
	}
	defer judged()
	if l.closed.Load() < 0 {
		return ErrClosed
	}
	own, err := read(driver.Uncharged(ctx))
	if l.closed.Add(int64(own-keys)) < 0 { // whatever the error: that of a row would tell that it is there
		return ErrClosed
	}
	return err
}
