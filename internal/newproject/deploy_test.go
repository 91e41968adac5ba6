package newproject_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/newproject"
	"github.com/foldql/foldql/internal/tests/tool"
)

// TestVariablesOfTheOperatorCount, in a container and under systemd alike: what is set there beforehand gives way.
func TestVariablesOfTheOperatorCount(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server of a project")
	}
	dir := newTodo(t)
	image, unit := buildImage(t, dir), readUnit(t, dir)
	program := filepath.Join(image.root, "server")
	for name, started := range map[string]started{"a container": image.started, "a service": unit} {
		t.Run(name, func(t *testing.T) {
			if len(started.args) != 1 {
				t.Fatalf("it is started with %q: flags come before variables", started.args)
			}
			data := t.TempDir()
			for _, env := range [][]string{started.env, {"FOLDQL_STORE=embedded:" + data, "FOLDQL_LISTEN=127.0.0.1:0"}} {
				for _, variable := range env {
					name, value, _ := strings.Cut(variable, "=")
					t.Setenv(name, value)
				}
			}
			address := serveWith(t, filepath.Dir(program), filepath.Base(program), started.args...)
			if !strings.HasPrefix(address, "http://127.0.0.1:") {
				t.Errorf("it listens at %s", address)
			}
			awaitAnswer(t, address, "{ __typename }", "Query")
			if _, err := os.Stat(filepath.Join(data, "rows")); err != nil {
				t.Errorf("its rows are elsewhere: %v", err)
			}
		})
	}
}

// TestAProjectWithRulesStartsAsItsDeploymentSays: by the variables that verify readers, which both files name.
func TestAProjectWithRulesStartsAsItsDeploymentSays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server of a project")
	}
	dir := filepath.Join(t.TempDir(), "shop")
	if err := newproject.Write(dir, newproject.Options{Example: "shop", Library: checkout}); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Generate(dir); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"Dockerfile", "server.service"} {
		text := string(readFile(t, filepath.Join(dir, "deploy", file)))
		want := []string{"FOLDQL_JWT_JWKS", "FOLDQL_JWT_SECRET"}
		if diff := cmp.Diff(want, regexp.MustCompile(`FOLDQL_JWT_\w+`).FindAllString(text, -1)); diff != "" {
			t.Errorf("%s: -want +got\n%s", file, diff)
		}
	}
	t.Setenv("FOLDQL_JWT_SECRET", strings.Repeat("s", 32))
	t.Setenv("FOLDQL_STORE", "memory:")
	t.Setenv("FOLDQL_LISTEN", "127.0.0.1:0")
	image := buildImage(t, dir)
	address := serveWith(t, image.root, "server", image.args...)
	awaitAnswer(t, address, `{ Billing_Invoice(id: "1") { amount } }`, "UNAUTHENTICATED")
}

// TestRowsAreKeptWhereTheyLast, where the operator names no store: in the volume, and in the folder of the service.
func TestRowsAreKeptWhereTheyLast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "todo")
	if err := newproject.Write(dir, newproject.Options{Library: checkout}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want []string }{
		"a container": {readImage(t, dir).env, []string{"FOLDQL_STORE=embedded:/data", "FOLDQL_LISTEN=:8080"}},
		"a service":   {readUnit(t, dir).env, []string{"FOLDQL_STORE=embedded:/var/lib/todo"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestAProjectHasANameThatDockerAndSystemdTake, whatever its module is called.
func TestAProjectHasANameThatDockerAndSystemdTake(t *testing.T) {
	for module, want := range map[string]string{
		"Orders": "orders", "example.com/orders/v2": "orders", "gopkg.in/orders.v3": "orders", "v2": "v2",
		"example.com/My_orders.api": "my_orders.api", "a~b+c": "a-b-c", "a.~b__c": "a-b-c", "example.com/_": "server",
	} {
		dir := t.TempDir()
		if err := newproject.Write(dir, newproject.Options{Module: module, Library: checkout}); err != nil {
			t.Fatal(err)
		}
		for file, line := range map[string]string{
			"Dockerfile":     "#   docker build -f deploy/Dockerfile -t " + want + " .\n",
			"server.service": "StateDirectory=" + want + "\n",
		} {
			if text := string(readFile(t, filepath.Join(dir, "deploy", file))); !strings.Contains(text, line) {
				t.Errorf("%s: %s has no line %q", module, file, line)
			}
		}
	}
}

// readUnit reads how systemd starts the server.
func readUnit(t *testing.T, dir string) (s started) {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, filepath.Join(dir, "deploy", "server.service")))) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "ExecStart":
			s.args = strings.Fields(value)[1:]
		case "Environment":
			s.env = append(s.env, strings.Fields(value)...)
		}
	}
	return s
}

// TestTheServiceOfSystemdIsRight, as far as systemd says of a file: it says of one that is wrong that it is.
func TestTheServiceOfSystemdIsRight(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd here")
	}
	dir := t.TempDir()
	if err := newproject.Write(filepath.Join(dir, "todo"), newproject.Options{Library: checkout}); err != nil {
		t.Fatal(err)
	}
	unit, err := os.ReadFile(filepath.Join(dir, "todo", "deploy", "server.service"))
	if err != nil {
		t.Fatal(err)
	}
	// the binary is not installed here
	text := strings.ReplaceAll(string(unit), "/usr/local/bin/todo", analyze)
	path := filepath.Join(dir, "todo.service")
	for restart, right := range map[string]bool{"Restart=always": true, "Restart=sometimes": false} {
		write(t, path, []byte(strings.ReplaceAll(text, "Restart=always", restart)))
		out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput()
		if err != nil {
			t.Errorf("%s: systemd-analyze: %v\n%s", restart, err, out)
		}
		if strings.Contains(string(out), "todo.service") == right { // what it says of units of this machine does not count
			t.Errorf("%s is right: %v; systemd says:\n%s", restart, right, out)
		}
	}
}
