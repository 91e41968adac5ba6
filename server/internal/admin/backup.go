package admin

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/problem"
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
	ctx := r.Context()
	taken, err := a.Backups.Snapshot(ctx)
	switch {
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
	to := &interruptible{patient{w, http.NewResponseController(w)}, a.Stopping}
	defer to.watch()()
	err := taken.Send(ctx, to)
	if err != nil && a.Stopping() {
		err = errStopping
	}
	return err
}

// errStopping is why a backup is given up of a server that drains: it would keep the listener closed until the end of
// the drain, and can be repeated.
var errStopping = errors.New("the server is to end: back up again when it is there")

// interruptible sends as long as the server is not to end.
type interruptible struct {
	patient
	stopping func() bool
}

// Write implements io.Writer.
func (i *interruptible) Write(b []byte) (int, error) {
	if i.stopping() {
		return 0, errStopping
	}
	return i.patient.Write(b)
}

// lookForEnd is how often a client that takes nothing is found out to keep the server from its end.
const lookForEnd = 100 * time.Millisecond

// watch interrupts pieces that wait for the client when the server is to end, until the function that it returns is
// called.
func (i *interruptible) watch() (end func()) {
	var watching sync.WaitGroup
	sent := make(chan struct{})
	watching.Go(func() {
		look := time.NewTicker(lookForEnd)
		defer look.Stop()
		for {
			select {
			case <-sent:
				return
			case now := <-look.C:
				if i.stopping() {
					_ = i.time.SetWriteDeadline(now) // of a connection without deadlines nothing can be interrupted
				}
			}
		}
	})
	return func() {
		close(sent)
		watching.Wait()
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
	if err := p.time.SetWriteDeadline(time.Now().Add(perPiece)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return 0, err
	}
	return p.to.Write(b)
}
