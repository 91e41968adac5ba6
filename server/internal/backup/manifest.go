// Package backup writes a copy of the rows and the log of a running server to a directory, and puts it back.
//
// A backup is the directories rows and log, or one of them, as the stores wrote them, with mirror in place of log where
// the server has a copy of the events of another source; and the file backup.json, which
// has the size and the SHA-256 of every file. On the way from a server it is a tar stream whose last entry is
// backup.json: a stream that ends before is no backup. The rows are copied first: so the log has each event that they
// hold, and a server that starts on the backup folds those that follow.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The parts of a backup, each a directory of it.
const (
	Rows   = "rows"
	Log    = "log"
	Mirror = "mirror"
)

// manifestName is the file that makes a directory a backup.
const manifestName = "backup.json"

// format is that of backups which this program writes and reads.
const format = 1

// Manifest says what a backup consists of.
type Manifest struct {
	Format int       `json:"format"`
	Taken  time.Time `json:"taken"` // when all of it was as it is
	Parts  []string  `json:"parts"` // some of the above
	Files  []File    `json:"files"`
}

// File is a file of a backup.
type File struct {
	Name   string `json:"name"` // below the backup's directory, with slashes
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Bytes is how large all files are.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Has reports whether the part is in the backup.
func (m *Manifest) Has(part string) bool { return slices.Contains(m.Parts, part) }

// read reads the manifest of the backup in a directory.
func read(dir string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no backup: it has no file %s; name a directory that 'server backup' has made", dir,
			manifestName)
	}
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// parse reads a manifest, which may come from anywhere.
func parse(text []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", manifestName, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("%s has the format %d, and this program reads %d: use the version of the program that made "+
			"the backup", manifestName, m.Format, format)
	}
	if len(m.Parts) == 0 {
		return nil, fmt.Errorf("%s names no parts: it is damaged", manifestName)
	}
	for _, part := range m.Parts {
		if part != Rows && part != Log && part != Mirror {
			return nil, fmt.Errorf("%s names the part %.100q: it is damaged", manifestName, part)
		}
	}
	for _, f := range m.Files {
		if !m.covers(f.Name) {
			return nil, fmt.Errorf("%s names the file %.100q, which is in none of its parts: it is damaged", manifestName,
				f.Name)
		}
	}
	return &m, nil
}

// covers reports whether a name is that of a file in one of the parts.
func (m *Manifest) covers(name string) bool {
	part, rest, ok := strings.Cut(name, "/")
	return ok && m.Has(part) && rest != "" && filepath.IsLocal(filepath.FromSlash(rest))
}
