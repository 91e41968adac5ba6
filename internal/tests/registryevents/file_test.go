package registryevents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/foldql/foldql/internal/tests/registryevents"
)

func TestTheNamedFileComesBeforeAllEventsBeforeTheSample(t *testing.T) {
	t.Setenv("REGISTRY_EVENTS", "")
	project := filepath.Join(t.TempDir(), "checkout", "examples", "registry")
	data := filepath.Join(project, "data")
	sample, all := filepath.Join(data, "sample.jsonl.gz"), filepath.Join(data, "registry-events.jsonl.gz")
	if got := registryevents.File(project); got != sample {
		t.Errorf("without anything: %s, want %s", got, sample)
	}
	for _, folder := range []string{data, filepath.Join(project, "../../../shared/data")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	beside := filepath.Join(project, "../../../shared/data/registry-events.jsonl.gz")
	if err := os.WriteFile(beside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := registryevents.File(project); got != beside {
		t.Errorf("with all beside the checkout: %s, want %s", got, beside)
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
	if _, err := os.Stat(registryevents.File("../../../examples/registry")); err != nil {
		t.Error(err)
	}
}
