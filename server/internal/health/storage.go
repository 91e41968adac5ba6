package health

import (
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb/driver"
)

// directory is what this server writes to a disk of its own.
type directory struct {
	Name string // "rows", "log" or "mirror"
	At   interface{ Writable() error }
}

// Directories are those of the server, as far as they are on a disk.
type Directories []directory

// Add takes a store in that can say whether it can be written.
func (s *Directories) Add(name string, store any) {
	if at, ok := store.(interface{ Writable() error }); ok {
		*s = append(*s, directory{name, at})
	}
}

// errStorage is all that /readyz says: the log and the metrics have the rest.
var errStorage = errors.New("the data directory cannot be written; the log of the server says why")

// ready returns why the server should get no requests. A disk that is full is no reason: rows are as good as they were,
// and a projection that falls behind is reason enough.
func (s Directories) ready() error {
	for _, one := range s {
		err := one.At.Writable()
		if err != nil && !errors.Is(err, driver.ErrFull) && !errors.Is(err, eventlog.ErrFull) {
			return errStorage
		}
	}
	return nil
}
