package main

import (
	"debug/buildinfo"
	"fmt"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// library is the module that a release is of.
const library = "github.com/foldql/foldql"

// checkVersion returns an error where the go command would not take a tag of that name for a version of the library.
func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("release %s: that is not how a version is written: tag the commit as vMAJOR.MINOR.PATCH, such as "+
			"v1.2.3 or v1.2.3-rc.1, and give that", version)
	}
	if err := module.Check(library, version); err != nil {
		return fmt.Errorf("release %s: %w: from version 2 on, the module's path ends in it", version, err)
	}
	return nil
}

// says returns an error where a binary takes itself for another version: Go has asked git which it is.
func (r *release) says(binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	if is := info.Main.Version; is != r.version {
		return fmt.Errorf("the command says that it is %s, and it is to be published as %s: of several tags of a commit, Go "+
			"takes the highest: release that one, or tag another commit", is, r.version)
	}
	return nil
}
