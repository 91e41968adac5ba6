package gen

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/foldql/foldql/internal/gen/handwritten"
)

// TestResolversInFilesThatGOFLAGSAdmitsAreThere, and those in files that it leaves out are not. Quotes are those of the
// go command: around a whole flag, which may have spaces then, or around tags in it.
func TestResolversInFilesThatGOFLAGSAdmitsAreThere(t *testing.T) {
	for flags, want := range map[string]bool{"": true, "-tags=other": true, "-trimpath '-tags=other,mine'": false,
		`"-ldflags=-X main.a=-tags=mine" --tags=,mine,`: false, "'-ldflags=-X a -tags=mine' -trimpath": true,
		"'-tags=other mine' -trimpath": false, "\"-tags='mine' other\"": false, "-tags='mine'": false,
		"-tags=mine -tags=other": true} {
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
