package disk

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestANewerEngineBringsNoFormatOfFilesByItself: where this fails, a newer engine has another format.
// Keep the one that there is, and change this test; or take the newer, and write into the changelog that there is no
// way back but a backup.
func TestANewerEngineBringsNoFormatOfFilesByItself(t *testing.T) {
	if Format != pebble.FormatNewest {
		t.Errorf("files have the format %d; the newest of the engine is %d", Format, pebble.FormatNewest)
	}
}
