package gen

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/foldql/foldql/internal/gen/handwritten"
)

// TestResolversInFilesThatGOFLAGSAdmitsAreThere, and those in files that it leaves out are not.
func TestResolversInFilesThatGOFLAGSAdmitsAreThere(t *testing.T) {
	for flags, want := range map[string]bool{"": true, "-trimpath '-tags=other,mine'": false, "-tags=other": true} {
		t.Setenv("GOFLAGS", flags)
		t.Chdir(t.TempDir())
		if err := os.Mkdir(stubsDir, 0o755); err != nil {
			t.Fatal(err)
		}
		const typ = "package graph\n\ntype queryResolver struct{ r *Resolver }\n"
		write(t, "graph/tagged.go", "//go:build mine\n\n"+typ)
		tags, err := buildTags()
		if err != nil {
			t.Fatal(err)
		}
		o := &output{before: snapshot{}, wrote: map[string][]byte{}}
		if err := o.mergeStubs(handwritten.Wanted{Stubs: []byte(typ), Tags: tags, Names: saving{func() {}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(stubsFile); errors.Is(err, fs.ErrNotExist) == want {
			t.Errorf("with GOFLAGS=%s, the type of the resolvers is written: %t, want %t: %v", flags, !want, want, err)
		}
	}
}
