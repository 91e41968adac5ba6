// Package registryevents finds the events of a package registry, real input that examples/registry folds.
package registryevents

import (
	"os"
	"path/filepath"
)

// File returns the file with the events, gzipped JSON lines, from the folder of examples/registry: the one that
// REGISTRY_EVENTS names, else all events where somebody has put them beside the sample, else the sample, which has those
// of 64 packages.
func File(project string) string {
	if file := os.Getenv("REGISTRY_EVENTS"); file != "" {
		return file
	}
	all := filepath.Join(project, "data", "registry-events.jsonl.gz")
	if _, err := os.Stat(all); err == nil {
		return all
	}
	return filepath.Join(project, "data", "sample.jsonl.gz")
}
