package trusted_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/graph/trusted"
)

// The documents of Appendix A, "Persisted Documents", of the GraphQL-over-HTTP specification, with their identifiers.
var appendix = map[string]string{
	"sha256:7dba4bd717b41f10434822356a93c32b1fb4907b983e854300ad839f84cdcd6e": "query ($id: ID!) {\n" +
		"  user(id: $id) {\n    name\n  }\n}",
	"sha256:71f7dc5758652baac68e4a10c50be732b741c892ade2883a99358f52b555286b": "query($id:ID!){user(id:$id){name}}",
}

func TestADocumentHasTheIdentifierOfTheSpecification(t *testing.T) {
	for id, text := range appendix {
		if got := trusted.Hash(text); got != id {
			t.Errorf("%s has %s, want %s", text, got, id)
		}
	}
}

// TestEveryManifestIsRead: of graphql-codegen, with hashes with and without their prefix, of Relay, and of Apollo.
func TestEveryManifestIsRead(t *testing.T) {
	const text = "query($id:ID!){user(id:$id){name}}"
	hash := trusted.Hash(text)
	digits := strings.TrimPrefix(hash, "sha256:")
	for name, c := range map[string]struct{ id, manifest string }{
		"prefixed":         {hash, `{"` + hash + `":"` + text + `"}`},
		"digits":           {digits, `{"` + digits + `":"` + text + `"}`},
		"relay":            {"e2a6b3b1dc1f3b1e3f6cf0c2b5f1a9c4", `{"e2a6b3b1dc1f3b1e3f6cf0c2b5f1a9c4":"` + text + `"}`},
		"prefix of theirs": {"x-app:user", `{"x-app:user":"` + text + `"}`},
		"apollo": {digits, `{"format":"apollo-persisted-query-manifest","version":1,"operations":[
			{"id":"` + digits + `","name":"User","type":"query","body":"` + text + `"}]}`},
	} {
		var d trusted.Documents
		if err := d.Add([]byte(c.manifest)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, id := range []string{c.id, hash, digits} {
			if got, ok := d.Text(id); !ok || got != text {
				t.Errorf("%s: %s is %q, %v", name, id, got, ok)
			}
		}
		if !d.Has(text) || d.Has(text+" ") || d.Len() != 1 || len(d.Texts()) != 1 {
			t.Errorf("%s: it has %q", name, d.Texts())
		}
	}
}

func TestAManifestThatCouldBeWrongIsRefused(t *testing.T) {
	for manifest, want := range map[string]string{
		`[]`:                    "object",
		`{}`:                    "no documents",
		`{"a":1}`:               "texts by identifier",
		`{"":"{ a }"}`:          "no identifier",
		`{"a":" "}`:             "is empty",
		`{"sha256:00":"{ a }"}`: "was changed",
		`{"md5:00":"{ a }"}`:    "not known",
		`{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}`: "version 2",
		`{"format":"apollo-persisted-query-manifest","version":1,"operations":[]}`: "no documents",
		`{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"a","body":"{ a }"},
			{"id":"a","body":"{ b }"}]}`: "twice",
		`{"format":"another","version":1,"operations":[]}`: "texts by identifier",
	} {
		var d trusted.Documents
		if err := d.Add([]byte(manifest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %q", manifest, err, want)
		}
	}
}

// FuzzManifest: whatever a file holds, it is read or refused, and what was read can be asked for.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"a":"{ a }"}`))
	f.Add([]byte(`{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"a","body":"{ a }"}]}`))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		var d trusted.Documents
		if d.Add(manifest) != nil {
			return
		}
		if d.Len() == 0 {
			t.Fatal("it is taken, and has nothing")
		}
		for _, text := range d.Texts() {
			if got, ok := d.Text(trusted.Hash(text)); !ok || got != text || !d.Has(text) {
				t.Fatalf("%q is not found", text)
			}
		}
	})
}

func write(t *testing.T, path, manifest string, at time.Time) {
	t.Helper()
	err := os.WriteFile(path, []byte(manifest), 0o600)
	if err == nil {
		err = os.Chtimes(path, at, at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAFileThatIsWrittenAnewIsReadAgain, and one that cannot be read leaves what there was.
func TestAFileThatIsWrittenAnewIsReadAgain(t *testing.T) {
	web, app := filepath.Join(t.TempDir(), "web.json"), filepath.Join(t.TempDir(), "app.json")
	at := time.Now().Add(-time.Hour)
	write(t, web, `{"a":"{ a }"}`, at)
	write(t, app, `{"b":"{ b }"}`, at)
	files, err := trusted.Open([]string{web, app})
	if err != nil {
		t.Fatal(err)
	}
	want := func(when string, texts ...string) {
		t.Helper()
		if got := files.Documents().Texts(); fmt.Sprint(got) != fmt.Sprint(texts) {
			t.Errorf("%s: %q, want %q", when, got, texts)
		}
	}
	reload := func(changed, fails bool) {
		t.Helper()
		if got, err := files.Reload(); got != changed || (err != nil) != fails {
			t.Errorf("reload: %v, %v; want %v, and an error: %v", got, err, changed, fails)
		}
	}
	want("at first", "{ a }", "{ b }")
	reload(false, false)
	write(t, web, `{"c":"{ c }"}`, at.Add(time.Minute))
	reload(true, false)
	want("after a change", "{ b }", "{ c }")
	write(t, web, `{"c":`, at.Add(2*time.Minute))
	reload(false, true)
	reload(false, true) // it is tried again
	want("after a change that is wrong", "{ b }", "{ c }")
	if err := os.Remove(web); err != nil {
		t.Fatal(err)
	}
	reload(false, true)
	want("without the file", "{ b }", "{ c }")
	write(t, web, `{"b":"{ other }"}`, at.Add(3*time.Minute))
	reload(false, true) // b is another document in the other file
	write(t, web, `{"a":"{ a }"}`, at.Add(4*time.Minute))
	reload(true, false)
	want("in the end", "{ a }", "{ b }")
	if _, err := trusted.Open([]string{filepath.Join(t.TempDir(), "none.json")}); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestAChangeThatLeavesSizeAndTimeIsReadWithinAMinute: tools that build the same from the same give all files one time.
func TestAChangeThatLeavesSizeAndTimeIsReadWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, at := filepath.Join(t.TempDir(), "web.json"), time.Unix(0, 0)
		write(t, path, `{"a":"{ a }"}`, at)
		files, err := trusted.Open([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"{ a }", "{ b }"} {
			write(t, path, fmt.Sprintf(`{"a":%q}`, text), at)
			time.Sleep(time.Minute)
			if _, err := files.Reload(); err != nil {
				t.Fatal(err)
			}
			if got := files.Documents().Texts(); len(got) != 1 || got[0] != text {
				t.Errorf("%q is served, want %q", got, text)
			}
		}
	})
}
