package admin

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/foldql/foldql/server/internal/backup"
)

// failing is a store that cannot be copied.
type failing struct{ err error }

func (f failing) Snapshot(string) error { return f.err }

// TestABackupThatTheDiskTakesNoCopyForSaysSo, and says what to do; only what nobody knows is a defect of the server.
func TestABackupThatTheDiskTakesNoCopyForSaysSo(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{syscall.ENOSPC, 507, "--store"},
		{syscall.EDQUOT, 507, "free space, or raise the quota"},
		{&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS}, 503, "mount the file system for writing"},
		{errors.New("odd"), 500, "urn:foldql:problem:internal"},
	} {
		a := &API{Log: slog.New(slog.DiscardHandler), Stopping: func() bool { return false }, Backups: &backup.Sender{
			Parts: []backup.Part{{Name: backup.Rows, Store: failing{c.err}, Dir: filepath.Join(t.TempDir(), "rows")}}}}
		r, w := httptest.NewRequest("POST", "/admin/backup", strings.NewReader("{}")), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/json")
		a.backup(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}

// large is a store of one large file.
type large struct{}

func (large) Snapshot(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "000001.log"))
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(1<<40), f.Close())
}

// client receives an answer, as fast as can be or, where it is slow, nothing at all until it is cut off.
type client struct {
	*httptest.ResponseRecorder
	slow     bool
	receives chan struct{} // has something once pieces come
	cut      chan struct{} // has something once it is cut off
}

func (c *client) Write(b []byte) (int, error) {
	select {
	case c.receives <- struct{}{}:
	default:
	}
	if c.slow {
		<-c.cut
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

func (c *client) SetWriteDeadline(at time.Time) error {
	if time.Until(at) > 0 {
		return nil
	}
	select {
	case c.cut <- struct{}{}:
	default:
	}
	return nil
}

// TestABackupDoesNotKeepAServerFromItsEnd, whether its client is slow or not: the client sees that it is not whole.
func TestABackupDoesNotKeepAServerFromItsEnd(t *testing.T) {
	for _, slow := range []bool{true, false} {
		var stopping atomic.Bool
		var log bytes.Buffer
		a := &API{Log: slog.New(slog.NewTextHandler(&log, nil)), Stopping: stopping.Load, Backups: &backup.Sender{
			Parts: []backup.Part{{Name: backup.Rows, Store: large{}, Dir: filepath.Join(t.TempDir(), "rows")}}}}
		r := httptest.NewRequest("POST", "/admin/backup", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		to := &client{httptest.NewRecorder(), slow, make(chan struct{}, 1), make(chan struct{}, 1)}
		ended := make(chan any, 1)
		go func() {
			defer func() { ended <- recover() }()
			a.backup(to, r)
		}()
		<-to.receives
		stopping.Store(true)
		select {
		case how := <-ended:
			if how != http.ErrAbortHandler || !strings.Contains(log.String(), "the server is to end") {
				t.Errorf("slow %t: the answer ends with %v, and the log has %s", slow, how, &log)
			}
		case <-time.After(perPiece / 2):
			t.Fatalf("slow %t: the backup goes on", slow)
		}
	}
}

// slow is a store that is copied file by file, without end.
type slow struct{ copies chan struct{} }

func (s slow) Snapshot(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	close(s.copies)
	for {
		if err := os.WriteFile(filepath.Join(dir, "000001.sst"), nil, 0o600); err != nil {
			return err
		}
	}
}

// TestAServerThatStopsGivesUpTheCopyForABackup at its next file, and begins none.
func TestAServerThatStopsGivesUpTheCopyForABackup(t *testing.T) {
	for _, begun := range []bool{true, false} {
		var stopping atomic.Bool
		stopping.Store(!begun)
		data, copied := t.TempDir(), slow{make(chan struct{})}
		a := &API{Log: slog.New(slog.DiscardHandler), Stopping: stopping.Load, Backups: &backup.Sender{
			Parts: []backup.Part{{Name: backup.Rows, Store: copied, Dir: filepath.Join(data, "rows")}}}}
		r, w := httptest.NewRequest("POST", "/admin/backup", strings.NewReader("{}")), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/json")
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			a.backup(w, r)
		}()
		if begun {
			<-copied.copies
			stopping.Store(true)
		}
		select {
		case <-ended:
		case <-time.After(perPiece / 2):
			t.Fatalf("begun %t: the copy goes on", begun)
		}
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "stopping") {
			t.Errorf("begun %t: %d %s", begun, w.Code, w.Body)
		}
		if !begun {
			select {
			case <-copied.copies:
				t.Error("a server that stops began a copy")
			default:
			}
		}
		if left, err := os.ReadDir(data); len(left) > 0 || err != nil {
			t.Errorf("begun %t: %v is left, error %v", begun, left, err)
		}
	}
}
