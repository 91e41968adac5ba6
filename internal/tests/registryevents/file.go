// Package registryevents finds the events of a package registry, real input that examples/registry folds.
package registryevents

import (
	"os"
	"path/filepath"
)

// File returns the file with the events, gzipped JSON lines, from the folder of examples/registry: the one that
// REGISTRY_EVENTS names, else all events where they are, beside the sample or in shared/data beside the checkout, else
// the sample, which has those of 64 packages.
func File(project string) string {
	if file := os.Getenv("REGISTRY_EVENTS"); file != "" {
		return file
	}
	for _, folder := range []string{"data", "../../../shared/data"} {
		all := filepath.Join(project, folder, "registry-events.jsonl.gz")
		if _, err := os.Stat(all); err == nil {
			return all
		}
	}
	return filepath.Join(project, "data", "sample.jsonl.gz")
}
