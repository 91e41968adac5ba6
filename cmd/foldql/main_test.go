package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestCommandsDoWhatTheySay: init makes a project, lint accepts it until it is wrong, and generate refuses it then.
func TestCommandsDoWhatTheySay(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, args := range []string{"init todo --module example.com/todo --model Note --replace " + checkout,
		"lint --dir todo", "generate --dir todo/cmd/server", "version"} {
		if err := run(t, args); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	if err := os.WriteFile("todo/schema.graphqls", []byte("type Task @readModel(events: []) { id: ID @id }"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"lint --dir todo":                     "findings must be fixed",
		"generate --dir todo":                 "schema.graphqls:1:",
		"init todo --replace " + checkout:     "is not empty",
		"init other":                          "--replace",
		"init other --model note":             "begin with a capital",
		"init other --example none":           "cricket, shop, tenants",
		"init other --example shop --model A": "--example",
		"generate --dir " + filepath.Dir("/"): "foldql init",
	} {
		if err := run(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", args, err, want)
		}
	}
}

// TestWhoeverBuildsAgainstACheckoutIsToldOfTheImage, which cannot be built from it as it is.
func TestWhoeverBuildsAgainstACheckoutIsToldOfTheImage(t *testing.T) {
	for replace, told := range map[string]bool{"/src/foldql": true, "": false} {
		var said strings.Builder
		c := initialize{Dir: "todo", Replace: replace}
		if err := c.tellReady(&said); err != nil {
			t.Fatal(err)
		}
		tells := strings.Contains(said.String(), replace) && strings.Contains(said.String(), "deploy/Dockerfile")
		if tells != told || !strings.HasPrefix(said.String(), "todo is ready") {
			t.Errorf("with the checkout %q it says\n%s", replace, &said)
		}
	}
}

// TestOnATerminalTheFirstModelIsAskedFor until its name is a good one; an empty line takes what is proposed.
func TestOnATerminalTheFirstModelIsAskedFor(t *testing.T) {
	for answers, want := range map[string]string{"my book\nBook\n": "Book", "\n": "Task", " Order ": "Order",
		"query": ""} {
		var asked strings.Builder
		c := initialize{}
		err := c.askModel(&console{in: strings.NewReader(answers), out: &asked, interactive: true})
		if c.Model != want || (err == nil) != (want != "") {
			t.Errorf("%q: model %q, %v, want %q", answers, c.Model, err, want)
		}
		if want == "Book" && !strings.Contains(asked.String(), "begin with a capital") {
			t.Errorf("%q: it says %s", answers, &asked)
		}
	}
	given := initialize{Model: "Given"}
	if err := given.askModel(&console{interactive: true}); err != nil || given.Model != "Given" {
		t.Errorf("a model that is given: %q, %v", given.Model, err)
	}
	nobody := initialize{}
	if err := nobody.askModel(&console{}); err != nil || nobody.Model != "" {
		t.Errorf("where nobody is: %q, %v", nobody.Model, err)
	}
}

// TestTheVersionOfTheToolIsKnownWhereAProxyHasIt, not where a checkout was built.
func TestTheVersionOfTheToolIsKnownWhereAProxyHasIt(t *testing.T) {
	const pseudo = "v0.0.0-20240115103000-0123456789ab"
	for main, want := range map[debug.Module]string{
		{Version: "v1.2.3", Sum: "h1:x"}: "v1.2.3",
		{Version: pseudo, Sum: "h1:x"}:   pseudo,
		{Version: "v1.2.3"}:              "v1.2.3",
		{Version: pseudo}:                "",
		{Version: "v1.2.3+dirty"}:        "",
		{Version: "(devel)"}:             "",
		{}:                               "",
	} {
		if got := released(&debug.BuildInfo{Main: main}); got != want {
			t.Errorf("%+v: %q, want %q", main, got, want)
		}
	}
	if got := released(nil); got != "" {
		t.Errorf("without build information: %q", got)
	}
}

func run(t *testing.T, args string) error {
	t.Helper()
	parser, err := kong.New(&cli{}, vars)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := parser.Parse(strings.Fields(args))
	if err != nil {
		return err
	}
	ctx.Bind(&console{})
	return ctx.Run()
}
