package admin

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
		a := &API{Log: slog.New(slog.DiscardHandler), Backups: &backup.Sender{Parts: []backup.Part{
			{Name: backup.Rows, Store: failing{c.err}, Dir: filepath.Join(t.TempDir(), "rows")},
		}}}
		r, w := httptest.NewRequest("POST", "/admin/backup", strings.NewReader("{}")), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/json")
		a.backup(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}
