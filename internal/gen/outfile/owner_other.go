//go:build !unix

package outfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: on these systems files take their rights from their folder.
func keepOwner(*os.File, fs.FileInfo) {}
