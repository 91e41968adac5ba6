package gen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	schemaOfA  = "type A @readModel(events: [\"E\"]) { id: ID! @id }\n"
	schemaOfAB = schemaOfA + "type B @readModel(events: [\"E\"]) { id: ID! @id }\n"
)

// newRevisions makes a project in a repository of git, and goes there: the branches deploy and old.graphqls have model
// A, the branch empty has no project, and the project has models A and B.
func newRevisions(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	git(t, "init", "-q", "-b", "main")
	write(t, "README.md", "A project is to come.\n")
	commit(t, "empty")
	writeProject(t, ".", schemaOfA)
	commit(t, "deploy")
	git(t, "branch", "old.graphqls")
	write(t, "schema.graphqls", schemaOfAB)
}

func git(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"-c", "user.name=Test", "-c", "user.email=test@example.com"}, args...)
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// commit makes a branch of what is in the working directory.
func commit(t *testing.T, branch string) {
	t.Helper()
	git(t, "add", ".")
	git(t, "commit", "-q", "-m", branch)
	git(t, "branch", branch)
}

func writeProject(t *testing.T, dir, schema string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, configFile), "schema: [schema.graphqls]\n")
	write(t, filepath.Join(dir, "schema.graphqls"), schema)
	write(t, filepath.Join(dir, eventsFile), "type E { id: ID! }\n")
}

// wantModels counts the models of the schemas at a place.
func wantModels(t *testing.T, at string, models int) {
	t.Helper()
	s, err := schemasAt(at)
	if err != nil {
		t.Errorf("%s: %v", at, err)
	} else if got := len(s.Model.ReadModels); got != models {
		t.Errorf("%s has %d models, want %d", at, got, models)
	}
}

func wantNoSchemas(t *testing.T, at string, all ...string) {
	t.Helper()
	_, err := schemasAt(at)
	for _, text := range all {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", at, err, text)
		}
	}
}

// TestAFolderWithoutAProjectIsNoProject: a branch that is called like it is meant, and the project above never is.
func TestAFolderWithoutAProjectIsNoProject(t *testing.T) {
	newRevisions(t)
	for _, dir := range []string{"deploy", "below"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	wantModels(t, "deploy", 1)
	for _, at := range []string{"below", "./deploy", "deploy/", "", "-x"} {
		wantNoSchemas(t, at, "neither a folder with gqlgen.yml in it nor a file")
	}
	t.Chdir("below")
	wantModels(t, ".", 2)
	wantModels(t, "..", 2)
	wantModels(t, "deploy", 1)
}

// TestANameOfTwoThingsIsRefused, and each has a name of its own.
func TestANameOfTwoThingsIsRefused(t *testing.T) {
	newRevisions(t)
	writeProject(t, "deploy", schemaOfAB)
	wantNoSchemas(t, "deploy", "./deploy", "refs/heads/deploy")
	wantModels(t, "./deploy", 2)
	wantModels(t, "refs/heads/deploy", 1)

	write(t, "old.graphqls", schemaOfAB)
	wantNoSchemas(t, "old.graphqls", "./old.graphqls", "refs/heads/old.graphqls")
	wantModels(t, "./old.graphqls", 2)
	wantModels(t, "old.graphqls~0", 1)
}

// TestARevisionIsOfTheProjectItself: one without the project is no other project that lies above the temporary files.
func TestARevisionIsOfTheProjectItself(t *testing.T) {
	newRevisions(t)
	temporary := filepath.Join(t.TempDir(), "tmp")
	writeProject(t, filepath.Dir(temporary), schemaOfAB)
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	wantModels(t, "deploy", 1)
	wantNoSchemas(t, "empty", "it has no gqlgen.yml")
}

// TestARevisionHasTheSchemasBesideTheProject, and behind links, as they were then.
func TestARevisionHasTheSchemasBesideTheProject(t *testing.T) {
	t.Chdir(t.TempDir())
	git(t, "init", "-q")
	writeProject(t, "teams/app", schemaOfA)
	write(t, "teams/app/gqlgen.yml",
		"schema: [schema.graphqls, ../../common/*.graphqls, link.graphqls, links/*.graphqls]\n")
	for folder, name := range map[string]string{"common": "B", "shared": "C", "shared/more": "D"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, folder+"/schema.graphqls", strings.Replace(schemaOfA, "type A", "type "+name, 1))
	}
	for link, target := range map[string]string{
		"link.graphqls": "../../shared/schema.graphqls", "links": "../../shared/more",
	} {
		if err := os.Symlink(target, "teams/app/"+link); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, "was")
	write(t, "common/schema.graphqls", "scalar Nothing\n")
	t.Chdir("teams/app")
	wantModels(t, ".", 3)
	wantModels(t, "was", 4)
}

// TestARevisionHasNoSchemasOutsideOfItsRepository: what lies there now is not what lay there then, and what a pattern
// with ".." finds beside temporary files is nothing of the project.
func TestARevisionHasNoSchemasOutsideOfItsRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	temporary := filepath.Join(t.TempDir(), "tmp")
	t.Setenv("TMPDIR", temporary)
	for _, dir := range []string{"repository", "common", temporary, filepath.Join(temporary, "common")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	schemaOfB := strings.Replace(schemaOfA, "type A", "type B", 1)
	write(t, "common/schema.graphqls", schemaOfB)
	write(t, filepath.Join(temporary, "common", "schema.graphqls"), schemaOfB)
	outside, err := filepath.Abs("common/schema.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("repository")
	git(t, "init", "-q")
	writeProject(t, ".", schemaOfA)
	if err := os.Symlink(outside, "link.graphqls"); err != nil {
		t.Fatal(err)
	}
	commit(t, "linked-only")
	wantModels(t, "linked-only", 1)
	for branch, named := range map[string]string{"beside": "../common/*.graphqls", "linked": "link.graphqls"} {
		write(t, configFile, "schema: [schema.graphqls, "+named+"]\n")
		commit(t, branch)
		wantModels(t, ".", 2)
		wantNoSchemas(t, branch, "schema.graphqls, which is outside of the repository")
	}
}

// TestARevisionMayHaveFilesThatThisSystemCannotMake, but for those that may be schemas: whatever became of their types
// would be new and break nobody.
func TestARevisionMayHaveFilesThatThisSystemCannotMake(t *testing.T) {
	newRevisions(t)
	write(t, configFile, "schema: ['schema*.graphqls']\n")
	git(t, "add", ".")
	long := strings.Repeat("x", 300) // of a file's name systems take 255 bytes
	add := func(branch, name, mode string) {
		git(t, "update-index", "--add", "--cacheinfo", mode+","+blobOf(t, configFile)+","+name)
		git(t, "commit", "-q", "-m", branch)
		git(t, "branch", branch)
	}
	add("file", long+"/image.png", "100644")
	add("link", "link"+long, "120000")
	wantModels(t, "file", 2)
	wantModels(t, "link", 2)
	add("schema", "schema"+long+".graphqls", "100644")
	wantNoSchemas(t, "schema", "extract schema"+long+".graphqls, which ")
}

// blobOf is what git calls the content of a file.
func blobOf(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("git", "rev-parse", ":"+name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestEventsAreHeldToTheFormerLock, also where somebody has removed the present one, and with it what it knew.
func TestEventsAreHeldToTheFormerLock(t *testing.T) {
	was, now := t.TempDir(), t.TempDir()
	writeProject(t, was, schemaOfA)
	write(t, filepath.Join(was, eventsFile), "type E { id: ID! }\n")
	write(t, filepath.Join(was, lockFile), lockOf(t, "type E { id: ID! note: String }"))
	writeProject(t, now, schemaOfA)
	write(t, filepath.Join(now, eventsFile), "type E { id: ID! note: Int }\n")
	r, err := Diff(was, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) != 1 || r.Events[0].At != "E.note" || !r.Breaks() {
		t.Errorf("of a field that had another type, it says %+v", r.Events)
	}
	if r, err = Diff(now, now); err != nil || r.Events != nil || r.Breaks() {
		t.Errorf("of no change it says %+v, %v", r, err)
	}
}
