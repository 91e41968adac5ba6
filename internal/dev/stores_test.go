package dev

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/dev/sources"
)

// TestWhereTheServerWritesIsNotWatched: in the store that counts, and in no other that is named, or that would be the
// usual one.
func TestWhereTheServerWritesIsNotWatched(t *testing.T) {
	const root = "/src/todo"
	for name, c := range map[string]struct{ flags, env, want []string }{
		"by itself":           {nil, nil, []string{"/src/todo/data"}},
		"a flag":              {[]string{"--sample", "--store=embedded:rows/"}, nil, []string{"/src/todo/rows"}},
		"a flag and its text": {[]string{"--store", "embedded:/rows", "--auth=off"}, nil, []string{"/rows"}},
		"the last flag":       {[]string{"--store", "embedded:a", "--store=embedded:b"}, nil, []string{"/src/todo/b"}},
		"a variable":          {nil, []string{"FOLDQL_STORE", "embedded:c"}, []string{"/src/todo/c"}},
		"a flag before it": {[]string{"--store=embedded:b"}, []string{"FOLDQL_STORE", "embedded:c"},
			[]string{"/src/todo/b"}},
		"memory":   {[]string{"--store=memory:", "--events=file:events.jsonl"}, nil, nil},
		"DynamoDB": {[]string{"--store=dynamodb:x-"}, nil, []string{"/src/todo/data/log", "/src/todo/data/mirror"}},
		"a log elsewhere": {[]string{"--store=embedded:rows", "--events=log:../log/"}, nil,
			[]string{"/src/todo/rows", "/src/log"}},
		"a log of a variable":         {nil, []string{"FOLDQL_EVENTS", "log:d"}, []string{"/src/todo/data", "/src/todo/d"}},
		"a file of settings":          {[]string{"--config=c.yml"}, nil, nil},
		"one of a variable":           {nil, []string{"FOLDQL_CONFIG", "c.yml"}, nil},
		"a flag before such settings": {[]string{"--config", "c.yml", "--store=embedded:b"}, nil, []string{"/src/todo/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"FOLDQL_STORE", "FOLDQL_EVENTS", "FOLDQL_CONFIG"} {
				t.Setenv(variable, "") // so that it is as it was in the end
				if err := os.Unsetenv(variable); err != nil {
					t.Fatal(err)
				}
			}
			if c.env != nil {
				t.Setenv(c.env[0], c.env[1])
			}
			if diff := cmp.Diff(c.want, stores(root, c.flags)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestAPackageInDataIsWatched where rows are kept elsewhere.
func TestAPackageInDataIsWatched(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "data", "countries.go")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("package data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := sources.Program{Roots: []string{root}}
	files, folders, err := program.Look(stores(root, []string{"--store=embedded:rows"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, read := files[file]; !read || !slices.Contains(folders, filepath.Dir(file)) {
		t.Errorf("read are %v, watched are %v", files, folders)
	}
}
