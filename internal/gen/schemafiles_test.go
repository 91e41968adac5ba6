package gen

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// TestWhatEditorsKeepBesideASchemaIsNoSchema: Emacs has a link to nowhere there, from the first change of a file until
// it is saved.
func TestWhatEditorsKeepBesideASchemaIsNoSchema(t *testing.T) {
	for _, pattern := range []string{"*.graphqls", "./**/*.graphqls"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module example.com/edited\n", "gqlgen.yml": "schema: ['" + pattern + "']\n",
			"events.graphqls": "type E { id: ID! }\n",
			"schema.graphqls": "type A @readModel(events: [\"E\"]) { id: ID! @id }\n",
			"events.lock":     lockOf(t, "type E { id: ID! }\n"),
		} {
			write(t, filepath.Join(dir, name), text)
		}
		if err := os.Symlink("somebody@machine.4711:1", filepath.Join(dir, ".#schema.graphqls")); err != nil {
			t.Skip(err)
		}
		if err := Lint(dir, io.Discard); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestSchemasAreFoundAsGqlgenFindsThem, but for those whose names begin with a dot; a link to nowhere is an error under
// another name, because its types would be gone.
func TestSchemasAreFoundAsGqlgenFindsThem(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.graphqls", "b.graphqls", "c.graphql", "x/a.graphqls", "x/y/b.graphqls",
		"x.y/graphqls", ".git/d.graphqls"} {
		if err := outfile.WriteIfChanged(filepath.FromSlash(name), []byte("# "+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, names := range [][]string{{"a.graphqls"}, {"none.graphqls"}, {"*.graphqls"}, {"./*.graphqls", "a.graphqls"},
		{"*.graphqls", "a.graphqls"}, {"*/*.graphqls"}, {"./**/*.graphqls"}, {"x/**/b.graphqls"}, {"x/**"}, {"[ab].graphqls"},
		{"**/*.graphqls"}, {"[.graphqls"}, {"x/**/(.graphqls"}} {
		theirs := config.DefaultConfig()
		theirs.SchemaFilename = names
		var theirErr error
		func() {
			defer func() {
				if recover() != nil {
					theirErr = os.ErrInvalid
				}
			}()
			theirErr = config.CompleteConfig(theirs)
		}()
		got, err := readSchemaFiles(names)
		if (err == nil) != (theirErr == nil) {
			t.Errorf("%s: %v, and gqlgen says %v", names, err, theirErr)
		} else if diff := cmp.Diff(theirs.Sources, got); err == nil && diff != "" {
			t.Errorf("%s: - gqlgen, + got\n%s", names, diff)
		}
	}

	write(t, ".hidden.graphqls", "# hidden")
	for pattern, want := range map[string]int{
		".hidden.graphqls": 1, ".*.graphqls": 1, "*.graphqls": 2, "./**/*.graphqls": 5,
	} {
		got, err := readSchemaFiles([]string{pattern})
		if err != nil || len(got) != want {
			t.Errorf("%s: %d files, want %d: %s, %v", pattern, len(got), want, namesOf(got), err)
		}
	}
	if err := os.Symlink("nowhere", "lost.graphqls"); err != nil {
		t.Skip(err)
	}
	if _, err := readSchemaFiles([]string{"*.graphqls"}); err == nil || !strings.Contains(err.Error(), "lost.graphqls") {
		t.Errorf("of a link to nowhere it says %v", err)
	}
}

func namesOf(sources []*ast.Source) (names []string) {
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return names
}
