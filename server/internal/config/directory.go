package config

import (
	"cmp"
	"strings"
)

// CheckDirectory refuses what is written as a store or a log, where an argument is a directory: one of that name would
// be made, and no server looks there.
func CheckDirectory(argument, text string) error {
	kind, dir, named := strings.Cut(text, ":")
	if !named || kind != Embedded && kind != Log {
		return nil
	}
	return Wrong(argument, "%q is written as a store or a log; write the directory alone, as in %s, or ./%s if "+
		"that is its name", text, cmp.Or(dir, usualDir), text)
}
