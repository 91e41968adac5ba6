package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/foldql/foldql/internal/dev"
)

// TestWhatFollowsTwoDashesIsForTheServer, but where it would have no effect.
func TestWhatFollowsTwoDashesIsForTheServer(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, vars)
	if err != nil {
		t.Fatal(err)
	}
	const line = "dev --listen 127.0.0.1:9090 -- --auth=off --store embedded:rows"
	if _, err := parser.Parse(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	if c.Dev.Listen != "127.0.0.1:9090" || strings.Join(c.Dev.Flags, " ") != "--auth=off --store embedded:rows" ||
		c.Dev.Binary != "bin/server" {
		t.Errorf("%+v", c.Dev)
	}
	for args, want := range map[string]string{
		"dev -- --listen :8080":       "before",
		"dev -- --listen=:8080":       "before",
		"dev todo":                    "--dir",
		"dev --auth=off":              "unknown flag",
		"dev --listen 0.0.0.0:0":      "of this machine",
		"dev --dir / --listen :8080":  "of this machine",
		"dev --dir /nowhere":          "nowhere",
		"dev --dir / --listen [::1]:": "foldql init",
	} {
		if err := run(t, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %q", args, err, want)
		}
	}
}

// TestASignalThatIsIgnoredStaysIgnored, so that nohup has foldql dev outlive its terminal.
func TestASignalThatIsIgnoredStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	signals := make(chan os.Signal, 1)
	notify(signals, syscall.SIGHUP)
	defer signal.Stop(signals)
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("SIGHUP is not ignored any more")
	}
}

// TestTheProgramGeneratesForDevByTheNameThatDevCallsItBy, and keeps the command from whoever asks for help.
func TestTheProgramGeneratesForDevByTheNameThatDevCallsItBy(t *testing.T) {
	if err := run(t, dev.GenerateCommand+" "+t.TempDir()); err == nil || !strings.Contains(err.Error(), "gqlgen.yml") {
		t.Errorf("of a folder without a project it says %v", err)
	}
	parser, err := kong.New(&cli{}, vars)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		if command.Name == dev.GenerateCommand {
			t.Errorf("%s is shown", command.Name)
		}
	}
}
