package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// backupType is the media type of a backup on its way.
const backupType = "application/x-tar"

// backup sends a copy of the rows and the log. It has all that they hold, and the secret of page tokens.
func (a *API) backup(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	bad, err := readJSON(w, r, &none, usualBody)
	if err != nil {
		bad = problem.BadRequest("Send {}.")
	}
	if bad != nil {
		bad.Write(w)
		return
	}
	if bad := otherLog(a.Backups, a.Folds); bad != nil {
		bad.Write(w)
		return
	}
	ctx, done := untilStopping(r.Context(), a.Stopping)
	defer done()
	taken, err := a.Backups.Snapshot(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		a.Log.WarnContext(ctx, "a backup was given up", "error", context.Cause(ctx))
		problem.Unavailable("The server is stopping: back up again when it has started again, or the server that follows " +
			"it.").Write(w)
		return
	case errors.Is(err, backup.ErrNothing):
		problem.NotFound("This server keeps neither rows nor a log on its disk: back up the store in DynamoDB, and the " +
			"source of the events.").Write(w)
		return
	case errors.Is(err, backup.ErrEmbedded):
		problem.NotFound("This server is part of a program, which has opened the rows and the log itself: back them up in " +
			"that program, the rows before the log.").Write(w)
		return
	case errors.Is(err, backup.ErrBusy):
		problem.FailedAgain("Another backup is being made: wait until it is done.").Write(w)
		return
	case err != nil:
		a.Log.ErrorContext(ctx, "no backup could be made", "error", err)
		noBackup(err).Write(w)
		return
	}
	err = a.send(ctx, w, taken)
	if removed := taken.Remove(); removed != nil {
		a.Log.WarnContext(ctx, "the files of a backup could not be removed; the next backup removes them", "error", removed)
	}
	if err != nil {
		a.Log.WarnContext(ctx, "a backup was given up", "error", err)
		panic(http.ErrAbortHandler) // whoever receives it sees that it is not whole
	}
	a.Log.InfoContext(ctx, "backup sent")
}

// otherLog is why there is no backup of rows with events that they were not folded from: nobody could use what is
// restored of it, and it could take the place of one that is good. Rows alone are as good as they were, and so is a log
// whose rows are in another place: other rows can be folded from it.
func otherLog(of *backup.Sender, folds *projections.Set) *problem.Problem {
	if !of.HasBoth() {
		return nil
	}
	if m := folds.Mismatch(); m != nil {
		return problem.FailedAgain("No backup is made, as nobody could use it: " + logcheck.Error(m).Error())
	}
	return nil
}

// noBackup says why the stores could not be copied: a copy takes a little of their disk.
func noBackup(err error) *problem.Problem {
	var fault *disk.Fault
	switch {
	case !errors.As(err, &fault):
		return problem.InternalProblem()
	case errors.Is(err, disk.ErrFull):
		return problem.InsufficientStorage("No backup can be made: " + fault.Error() + ". Or stop the server, and run " +
			"'server backup' with --store: it needs 1 MB of free space, and not --reserve-mb. After a " +
			"server that was killed it may need more, and says how much.")
	}
	return problem.Unavailable("No backup can be made: " + fault.Error() + ".")
}

func (a *API) send(ctx context.Context, w http.ResponseWriter, taken *backup.Snapshot) error {
	w.Header().Set("Content-Type", backupType)
	to := &interruptible{patient{w, http.NewResponseController(w)}, ctx}
	defer to.watch()()
	err := taken.Send(ctx, to)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// errStopping is why a backup is given up of a server that drains: it would keep the listener closed until the end of
// the drain, and can be repeated.
var errStopping = errors.New("the server is to end: back up again when it is there")

// lookForEnd is how often it is looked whether the server is to end.
const lookForEnd = 100 * time.Millisecond

// untilStopping returns a context that ends, with errStopping, when the server is to end.
func untilStopping(ctx context.Context, stopping func() bool) (_ context.Context, done context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if stopping() {
		cancel(errStopping)
	}
	go func() {
		look := time.NewTicker(lookForEnd)
		defer look.Stop()
		for !stopping() {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
		cancel(errStopping)
	}()
	return ctx, func() { cancel(nil) }
}

// interruptible sends until the context ends.
type interruptible struct {
	patient
	ctx context.Context
}

// Write implements io.Writer. It looks at the context when the piece has its time, which watch then cuts short.
func (i *interruptible) Write(b []byte) (int, error) {
	if err := i.giveTime(); err != nil {
		return 0, err
	}
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.to.Write(b)
}

// watch interrupts the piece that waits for the client when the context ends, until the function that it returns is
// called.
func (i *interruptible) watch() (end func()) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(i.ctx, func() {
		defer close(interrupted)
		_ = i.time.SetWriteDeadline(time.Now()) // of a connection without deadlines nothing can be interrupted
	})
	return func() {
		if !stop() {
			<-interrupted
		}
	}
}

// patient gives the client time for each piece that is sent, however many there are.
type patient struct {
	to   http.ResponseWriter
	time *http.ResponseController
}

// perPiece is how long a client has to take a piece, of up to 32 KiB.
const perPiece = 30 * time.Second

func (p *patient) Write(b []byte) (int, error) {
	if err := p.giveTime(); err != nil {
		return 0, err
	}
	return p.to.Write(b)
}

func (p *patient) giveTime() error {
	err := p.time.SetWriteDeadline(time.Now().Add(perPiece))
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
