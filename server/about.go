package server

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type schemaCommand struct{}

// Run prints the schema of the API.
func (*schemaCommand) Run(p *program) error {
	_, err := fmt.Fprint(p.Stdout, p.app.SDL)
	return err
}

type versionCommand struct{}

// Run prints which build this is.
func (*versionCommand) Run(p *program) error {
	version, revision := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	_, err := fmt.Fprintf(p.Stdout, "%s%s %s\n", version, revision, runtime.Version())
	return err
}
