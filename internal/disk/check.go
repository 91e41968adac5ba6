package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrDamaged is matched by the error of CheckTable where the table is not what the engine wrote.
var ErrDamaged = errors.New("the file is damaged")

// CheckTable reads all of a table, and fails where it is not what the engine wrote, which itself finds damage only
// where it reads. Any other error is that the table could not be read.
func CheckTable(path string) error {
	f, err := vfs.Default.Open(path)
	if err != nil {
		return err
	}
	switch err := checkBlocks(f); {
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("%w: the checksums of %s: %w", ErrDamaged, path, err)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func checkBlocks(f vfs.File) error {
	from, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	var engine pebble.Options
	engine.EnsureDefaults()
	table, err := sstable.NewReader(context.Background(), from, engine.MakeReaderOptions())
	if err != nil {
		return errors.Join(err, from.Close())
	}
	return errors.Join(table.ValidateBlockChecksums(), table.Close())
}
