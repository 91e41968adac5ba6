package filesource_test

import (
	stdcmp "cmp"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func TestADirectoryKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		dir := t.TempDir()
		files := []string{"orders.jsonl", "payments.jsonl.gz", "refunds.jsonl"}
		put := func(t testing.TB, texts map[string][]byte) {
			for _, name := range files {
				text := texts[name]
				if strings.HasSuffix(name, ".gz") {
					text = zip(t, text)
				}
				write(t, filepath.Join(dir, name), text)
			}
		}
		put(t, nil)
		return sourcetest.Place{
			Add: func(t testing.TB, events []eventlog.Event) {
				texts := map[string][]byte{}
				for _, e := range events {
					h := fnv.New32()
					h.Write([]byte(stdcmp.Or(e.PartitionKey, e.Subject)))
					name := files[h.Sum32()%uint32(len(files))]
					texts[name] = append(texts[name], lines([]eventlog.Event{e})...)
				}
				put(t, texts)
			},
			Open: func(t testing.TB) eventlog.Source {
				d, err := filesource.OpenDir(filesource.Options{Path: dir})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				})
				return d
			},
			Durable: true,
			Grow: func(t testing.TB, events []eventlog.Event) {
				write(t, filepath.Join(dir, "added.jsonl"), lines(events))
			},
			Remove: func(t testing.TB) {
				if err := os.Remove(filepath.Join(dir, files[1])); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

func TestAPartitionIsNamedAfterItsFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jsonl", "a.0.jsonl", ".hidden"} {
		write(t, filepath.Join(dir, name), nil)
	}
	d, err := filesource.OpenDir(filesource.Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	got, err := d.Partitions(t.Context())
	if diff := cmp.Diff([]string{"a.0", "b"}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s\nerror %v", diff, err)
	}
}

// TestAFileWhoseNameIsNoTextIsRefused: its partition could be named neither in answers nor in metrics.
func TestAFileWhoseNameIsNoTextIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "caf\xe9.jsonl"), nil, 0o600); err != nil {
		t.Skip("this file system has no such names: ", err)
	}
	d, err := filesource.OpenDir(filesource.Options{Path: dir})
	if err == nil {
		d.Close()
	}
	if want := `the name of the file "caf\xe9.jsonl" is no valid UTF-8`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestADirectoryThatCouldHideEventsIsRefused: with files whose events would be read by nobody, or under one name.
func TestADirectoryThatCouldHideEventsIsRefused(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, "has no file whose name ends in .jsonl"},
		{[]string{".hidden"}, "has no file whose name ends in .jsonl"},
		{[]string{"a.jsonl", "b.json"}, "b.json is no partition"},
		{[]string{"a.jsonl", "sub/b.jsonl"}, "sub is no partition"},
		{[]string{"a.jsonl", "a.jsonl.gz"}, `two files are the partition "a"`},
	} {
		dir := t.TempDir()
		for _, name := range c.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, path, nil)
		}
		if d, err := filesource.OpenDir(filesource.Options{Path: dir}); err == nil {
			d.Close()
			t.Errorf("%q: opened", c.files)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.files, err, c.want)
		}
	}
}
