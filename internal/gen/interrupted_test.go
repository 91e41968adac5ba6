package gen

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/newproject"
)

const formerQueries = `
type Query { top(limit: Int!, from: Int!): [String!]! find(title: String!): String! own(n: Int!): Int! }
`

// TestAGenerationThatIsKilledLeavesNothingToMend: whatever it has come to, no file is half of one, and the next
// generation gives what it would have given, signatures of resolvers included.
func TestAGenerationThatIsKilledLeavesNothingToMend(t *testing.T) {
	generator := buildInterrupted(t)
	was := projectOfResolvers(t, generator)
	generated := func(t *testing.T, until int) (dir, said string) {
		t.Helper()
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(was)); err != nil {
			t.Fatal(err)
		}
		return dir, generateUntil(t, generator, dir, until)
	}
	dir, said := generated(t, 0)
	before, want := readWanted(t, was), readWanted(t, dir)
	if got := want[stubsFile]; !strings.Contains(got, "Top(ctx context.Context, most int, from int)") {
		t.Fatalf("a renamed argument is not followed:\n%s", got)
	}
	changes, err := strconv.Atoi(said)
	if err != nil || changes < 10 {
		t.Fatalf("it has %s changes of files: %v", said, err)
	}
	for _, n := range killedAt(changes) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir, path := generated(t, n)
			for name, text := range readWanted(t, dir) {
				_, known := want[name]
				if known && text != want[name] && text != before[name] {
					t.Errorf("killed before a change of %s, it leaves a half of %s:\n%s", path, name, text)
				}
			}
			generateUntil(t, generator, dir, 0)
			if diff := cmp.Diff(want, readWanted(t, dir)); diff != "" {
				t.Errorf("killed before a change of %s, the next one gives (- want, + got):\n%s", path, diff)
			}
		})
	}
}

// TestAGenerationThatIsKilledLeavesNothingWhereTheSchemaIsPutBack: signatures that it has changed become what they
// were, those that the author has changed stay, and no file of it is left.
func TestAGenerationThatIsKilledLeavesNothingWhereTheSchemaIsPutBack(t *testing.T) {
	generator := buildInterrupted(t)
	was, schema := projectOfQueries(t, generator)
	text := strings.Replace(read(t, was, stubsFile), "title string", "mine string", 1)
	write(t, filepath.Join(was, filepath.FromSlash(stubsFile)), text)
	want := readWanted(t, was)
	changed := strings.NewReplacer("own(n: Int!", "own(n: String!", "top(limit:", "top(most:").Replace(schema)
	killed := func(t *testing.T, change int) (dir, said string) {
		t.Helper()
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(was)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "schema.graphqls"), changed)
		return dir, generateUntil(t, generator, dir, change)
	}
	_, said := killed(t, 0)
	changes, err := strconv.Atoi(said)
	if err != nil || changes < 6 {
		t.Fatalf("it has %s changes of files: %v", said, err)
	}
	for _, n := range killedAt(changes) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir, path := killed(t, n)
			write(t, filepath.Join(dir, "schema.graphqls"), schema)
			generateUntil(t, generator, dir, 0)
			if diff := cmp.Diff(want, readWanted(t, dir)); diff != "" {
				t.Errorf("killed before a change of %s, the next one gives (- want, + got):\n%s", path, diff)
			}
		})
	}
}

// TestGenerationsThatAreKilledOneAfterTheOtherLeaveNothingWhereTheSchemaIsPutBack, though the second wants nothing any
// more of what the first has written.
func TestGenerationsThatAreKilledOneAfterTheOtherLeaveNothingWhereTheSchemaIsPutBack(t *testing.T) {
	generator := buildInterrupted(t)
	was, schema := projectOfQueries(t, generator)
	killed := func(t *testing.T, from, change string, until int) (dir, said string) {
		t.Helper()
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "schema.graphqls"), strings.NewReplacer(strings.Split(change, "|")...).Replace(schema))
		return dir, generateUntil(t, generator, dir, until)
	}
	var first string
	for n := 1; first == "" || !strings.Contains(read(t, first, stubsFile), "n string"); n++ {
		first, _ = killed(t, was, "own(n: Int!|own(n: String!", n)
	}
	const second = " own(n: Int!): Int!||from: Int!|from: Int!, by: Int!"
	_, said := killed(t, first, second, 0)
	changes, err := strconv.Atoi(said)
	if err != nil || changes < 6 {
		t.Fatalf("it has %s changes of files: %v", said, err)
	}
	for _, n := range killedAt(changes) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir, path := killed(t, first, second, n)
			write(t, filepath.Join(dir, "schema.graphqls"), schema)
			generateUntil(t, generator, dir, 0)
			if diff := cmp.Diff(readWanted(t, was), readWanted(t, dir)); diff != "" {
				t.Errorf("killed before a change of %s, the next one gives (- want, + got):\n%s", path, diff)
			}
		})
	}
}

// killedAt are the numbers of changes before which a generation is killed: a few that chance names, as each takes
// seconds of a processor, and all of them where CRASH_SEEDS is set, as it is for make crash.
func killedAt(changes int) []int {
	const few = 6
	all := rand.Perm(changes)
	if os.Getenv("CRASH_SEEDS") == "" {
		all = all[:min(few, changes)]
	}
	for i := range all {
		all[i]++
	}
	return all
}

// projectOfQueries is a project with queries of its own, as it is generated, and its schema.
func projectOfQueries(t *testing.T, generator string) (dir, schema string) {
	t.Helper()
	dir = t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	schema = read(t, dir, "schema.graphqls") + formerQueries
	write(t, filepath.Join(dir, "schema.graphqls"), schema)
	generateUntil(t, generator, dir, 0)
	return dir, schema
}

// buildInterrupted builds the generator that ends before a change of a file.
func buildInterrupted(t *testing.T) (generator string) {
	t.Helper()
	generator = filepath.Join(t.TempDir(), "generator") // without the race detector, with which it takes much longer
	if out, err := exec.Command("go", "build", "-o", generator, "./testdata/interrupted").CombinedOutput(); err != nil {
		t.Fatalf("build the generator: %v\n%s", err, out)
	}
	return generator
}

// projectOfResolvers is a project with resolvers whose parameters and types its author calls as he likes, in two files,
// and a schema that has changed since it was generated.
func projectOfResolvers(t *testing.T, generator string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	library := newproject.Library{Checkout: "../.."}
	if err := newproject.Write(dir, newproject.Options{Module: "example.com/own", Library: library}); err != nil {
		t.Fatal(err)
	}
	replace := func(name string, oldNew ...string) {
		t.Helper()
		text := read(t, dir, name)
		for i := 0; i < len(oldNew); i += 2 {
			if strings.Count(text, oldNew[i]) != 1 {
				t.Fatalf("no single %s in %s:\n%s", oldNew[i], name, text)
			}
		}
		write(t, filepath.Join(dir, filepath.FromSlash(name)), strings.NewReplacer(oldNew...).Replace(text))
	}
	write(t, filepath.Join(dir, "schema.graphqls"), read(t, dir, "schema.graphqls")+formerQueries)
	generateUntil(t, generator, dir, 0)
	text := read(t, dir, stubsFile)
	from := strings.Index(text, "func (r *queryResolver) Find(")
	find := text[from : from+strings.Index(text[from:], "\n}\n")+3]
	replace(stubsFile, find, "type number = int\n", "n int", "mine number")
	write(t, filepath.Join(dir, "graph", "find.go"), "package graph\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n\n"+find)
	generateUntil(t, generator, dir, 0)
	if got := read(t, dir, stubsFile); !strings.Contains(got, "mine number") {
		t.Fatalf("a name of the author is lost:\n%s", got)
	}
	replace("schema.graphqls", "top(limit:", "top(most:", "find(title:", "find(name:",
		`"TaskArchived"]`, `"TaskArchived", "TaskRenamed"]`)
	write(t, filepath.Join(dir, eventsFile), read(t, dir, eventsFile)+
		"\ntype TaskRenamed {\n  taskId: ID! @partitionTag\n  name: String!\n}\n")
	return dir
}

// generateUntil generates the code until a change of a file, or to the end for 0, and returns what the generator says.
func generateUntil(t *testing.T, generator, dir string, change int) string {
	t.Helper()
	cmd := exec.Command(generator, dir, strconv.Itoa(change))
	cmd.Stderr = os.Stderr
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("generate %s: %v", dir, err)
	}
	return strings.TrimSpace(string(said))
}
