package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// CheckTable reads all of a table, and fails where it is not what the engine wrote, which itself finds damage only
// where it reads.
func CheckTable(path string) error {
	f, err := vfs.Default.Open(path)
	if err != nil {
		return err
	}
	if err := checkBlocks(f); err != nil {
		return fmt.Errorf("the checksums of %s: %w", path, err)
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
