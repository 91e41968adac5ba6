package dev

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stores are the folders that the server keeps rows and events in, as it is told: it writes there all the time. What a
// file of settings names is found by what stands in it, once the server has begun to write.
func stores(root string, flags []string) (folders []string) {
	add := func(dir string) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		folders = append(folders, filepath.Clean(dir))
	}
	switch kind, dir, _ := strings.Cut(option("store", "embedded:data", flags), ":"); {
	case kind == "embedded" && dir != "":
		add(dir)
	case kind == "dynamodb": // events are on this machine nevertheless
		add("data/log")
		add("data/mirror")
	}
	if kind, dir, _ := strings.Cut(option("events", "log:", flags), ":"); kind == "log" && dir != "" {
		add(dir)
	}
	return folders
}

// option is what counts of an option of the server: the last flag, or else the variable. Where there is neither, it is
// what the server takes by itself, and "" where a file of settings may have another value.
func option(name, otherwise string, flags []string) string {
	if value, given := lastFlag(name, flags); given {
		return value
	}
	if value, given := os.LookupEnv("FOLDQL_" + strings.ToUpper(name)); given {
		return value
	}
	if file, _ := lastFlag("config", flags); file != "" || os.Getenv("FOLDQL_CONFIG") != "" {
		return ""
	}
	return otherwise
}

// lastFlag is the value of a flag as it is given last, by --name=value or by --name value.
func lastFlag(name string, flags []string) (value string, given bool) {
	for i, flag := range slices.Backward(flags) {
		if value, given = strings.CutPrefix(flag, "--"+name+"="); given {
			return value, true
		}
		if flag == "--"+name && i+1 < len(flags) {
			return flags[i+1], true
		}
	}
	return "", false
}
