//go:build !unix

package outfile

import "io/fs"

// keepOwner does nothing: on these systems files take their rights from their folder.
func keepOwner(string, fs.FileInfo) {}
