package registryevents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foldql/foldql/internal/registryevents"
)

func TestTheNamedFileComesBeforeAllEventsBeforeTheSample(t *testing.T) {
	t.Setenv("REGISTRY_EVENTS", "")
	project := t.TempDir()
	data := filepath.Join(project, "data")
	sample, all := filepath.Join(data, "sample.jsonl.gz"), filepath.Join(data, "registry-events.jsonl.gz")
	if got := registryevents.File(project); got != sample {
		t.Errorf("without anything: %s, want %s", got, sample)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(all, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := registryevents.File(project); got != all {
		t.Errorf("with all beside the sample: %s, want %s", got, all)
	}
	t.Setenv("REGISTRY_EVENTS", "/elsewhere")
	if got := registryevents.File(project); got != "/elsewhere" {
		t.Errorf("with REGISTRY_EVENTS: %s", got)
	}
}

func TestTheSampleIsThere(t *testing.T) {
	t.Setenv("REGISTRY_EVENTS", "")
	if _, err := os.Stat(registryevents.File("../../examples/registry")); err != nil {
		t.Error(err)
	}
}
