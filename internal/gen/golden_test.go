package gen

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema/parse"
	"github.com/foldql/foldql/internal/schema/sdl"
)

var update = flag.Bool("update", false, "write what is generated as what is wanted")

// TestCasesGiveTheirFiles: every folder of testdata/cases gives the files in its want folder.
func TestCasesGiveTheirFiles(t *testing.T) {
	for _, dir := range caseFolders(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			files := generateCase(t, dir)
			if again := generateCase(t, dir); !cmp.Equal(files, again) {
				t.Fatal("generated twice, it is not the same:\n" + cmp.Diff(files, again))
			}
			want := filepath.Join(dir, "want")
			if *update {
				writeWanted(t, want, files)
			}
			if diff := cmp.Diff(readWanted(t, want), files); diff != "" {
				t.Errorf("-want +got; go test -update writes what is generated:\n%s", diff)
			}
		})
	}
}

func caseFolders(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	return dirs
}

// generateCase makes the files of a case as those of a project in the module example.com/shop.
func generateCase(t *testing.T, dir string) map[string]string {
	t.Helper()
	p := &project{module: "example.com/shop", readModels: []*ast.Source{source(t, dir, "schema.graphqls")},
		events: []*ast.Source{source(t, dir, "events.graphqls")}, lock: caseLock(t, dir),
		relayID: caseText(t, dir, relayFile)}
	model, found := p.load()
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	o, err := p.files(model)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for path, content := range o.files {
		files[path] = string(content)
	}
	return files
}

// relayFile is the file of a case that names the field of Node, where the case has what clients of Relay need.
const relayFile = "relay"

// caseLock is the lock of a case, "" for none: that of a schema before its own.
func caseLock(t *testing.T, dir string) string {
	t.Helper()
	return caseText(t, dir, lockFile)
}

// caseText is a file of a case, "" where there is none.
func caseText(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func source(t *testing.T, dir, name string) *ast.Source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return &ast.Source{Name: name, Input: string(text)}
}

func readWanted(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writeWanted(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := outfile.WriteIfChanged(filepath.Join(dir, path), []byte(files[path])); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryAnnotationHasACase: each directive, and each of its arguments, stands in some case.
func TestEveryAnnotationHasACase(t *testing.T) {
	var all strings.Builder
	for _, dir := range caseFolders(t) {
		all.WriteString(source(t, dir, "schema.graphqls").Input)
		all.WriteString(source(t, dir, "events.graphqls").Input)
	}
	for _, name := range append(sdl.BuildDirectives(), "partitionTag", "tag", "default", "was", "retired", "version") {
		if !strings.Contains(all.String(), "@"+name) {
			t.Errorf("no case has @%s", name)
		}
	}
	for _, argument := range []string{
		"plugin:", "table:", "stream:", "projector:", "tags:", "atomic:", "version:", "sep:", "projection:", "include:",
		"group:", "authTable:", "field:", "via:", "groups:", "owner:", "writes:", "casing:", "escape:", "discriminator:",
		"pkAttribute:", "skAttribute:", "collection:", "type:", "policy:", "unique:", "include:", "gsis:",
		"cascade:", "missing:",
	} {
		if !strings.Contains(all.String(), argument) {
			t.Errorf("no case has the argument %s", argument)
		}
	}
}

// TestEverythingServedIsDescribed: each query, argument and type says what it is.
func TestEverythingServedIsDescribed(t *testing.T) {
	for _, dir := range caseFolders(t) {
		src := source(t, dir, "schema.graphqls")
		settings := parse.Settings{RelayID: caseText(t, dir, relayFile)}
		model, found := settings.Load([]*ast.Source{src}, []*ast.Source{source(t, dir, "events.graphqls")})
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		s, text, err := served.Schema(model, []*ast.Source{src})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range sdl.BuildDirectives() {
			if s.Directives[name] != nil || strings.Contains(text, "@"+name) {
				t.Errorf("%s: the served schema shows @%s", dir, name)
			}
		}
		if s.Description == "" {
			t.Errorf("%s: the schema is not described", dir)
		}
		for _, r := range model.ReadModels {
			names := []string{r.Name, "Query"}
			for _, f := range r.Fields {
				if !f.Hidden {
					names = append(names, served.TypeOf(f))
				}
			}
			for _, q := range r.Queries() {
				if q.Connection != "" {
					names = append(names, q.Connection)
				}
			}
			for _, name := range names {
				if s.Types[name].Description == "" {
					t.Errorf("%s: type %s is not described", dir, name)
				}
			}
		}
		made := served.QueryNames(model)
		for _, q := range s.Query.Fields {
			if !made[q.Name] {
				continue
			}
			if q.Description == "" {
				t.Errorf("%s: query %s is not described", dir, q.Name)
			}
			for _, a := range q.Arguments {
				if a.Description == "" {
					t.Errorf("%s: argument %s of %s is not described", dir, a.Name, q.Name)
				}
			}
		}
	}
}

// TestAQueryIsTheProjectsWhateverItsLength of name.
func TestAQueryIsTheProjectsWhateverItsLength(t *testing.T) {
	for query, want := range map[string]bool{"": false, "type Query { a: Int }": true, "type Query { at: Int }": true} {
		src := []*ast.Source{{Name: "schema.graphqls", Input: versionedModel + query}}
		model, found := parse.Load(src, []*ast.Source{{Name: "events.graphqls", Input: versionedInput}})
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		s, _, err := served.Schema(model, src)
		if err != nil {
			t.Fatal(err)
		}
		if own := hasOwnResolvers(s, model); own != want {
			t.Errorf("%q: the project has resolvers of its own: %t, want %t", query, own, want)
		}
	}
}

// The schema and the events of the tests of versions.
const (
	versionedModel = `type Order @readModel(events: ["E"]) { orderId: ID! @id status: String! @index(name: "byStatus") ` +
		`at: DateTime! total: Float }`
	versionedView  = `type Order @stateView(events: ["E"], tags: ["orderId:1"]) { orderId: ID! @id }`
	versionedInput = `type E { orderId: ID! @tag state: State lines: [Line!] } type F { orderId: ID! @tag note: String } type Line { product: ID! of: Line }
		enum State { NEW DONE }`
)

func versionOf(t *testing.T, readModels, events string) string {
	t.Helper()
	model, found := parse.Load([]*ast.Source{{Name: "schema.graphqls", Input: readModels}},
		[]*ast.Source{{Name: "events.graphqls", Input: events}})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return code.Version(model, model.ReadModels[0])
}

// TestVersionChangesWithWhatIsStored, and with nothing else.
func TestVersionChangesWithWhatIsStored(t *testing.T) {
	was := versionOf(t, versionedModel, versionedInput)
	for _, tt := range []struct {
		old, now string
		changes  bool
	}{
		{`"E"]`, `"E", "F"]`, true},
		{`"E"])`, `"E"], version: 2)`, true},
		{`"E"])`, `"E"], stream: "/orders")`, true},
		{`@readModel(events: ["E"])`, `@stateView(events: ["E"], tags: ["orderId:1"])`, true},
		{`total: Float`, `total: Float!`, true},
		{`total: Float`, `total: Int`, true},
		{`total: Float`, `total: [Float!]`, true},
		{`total: Float`, `sum: Float`, true},
		{`total: Float`, `total: Float note: String`, true},
		{`"byStatus")`, `"byState")`, true},
		{`"byStatus")`, `"byStatus", projection: KEYS_ONLY)`, true},
		{`at: DateTime!`, `at: DateTime! @indexSubId(name: "byStatus")`, true},
		{`at: DateTime!`, `at: DateTime! @subId`, true},
		{`at: DateTime!`, `at: DateTime! @ttl`, true},
		{`at: DateTime!`, `at: DateTime! @createdAt`, true},
		{`type Order`, `"An order." type Order`, false},
		{`"E"])`, `"E"], plugin: "Sales")`, false},
		{`"E"])`, `"E"]) @auth(groups: ["Admin"])`, false},
		{`"byStatus")`, `"byStatus", group: "Admin")`, false},
		{`total: Float`, `total: Float @deprecated`, false},
	} {
		text := strings.Replace(versionedModel, tt.old, tt.now, 1)
		if changed := versionOf(t, text, versionedInput) != was; changed != tt.changes {
			t.Errorf("%s for %s: changed is %t, want %t", tt.now, tt.old, changed, tt.changes)
		}
	}
}

// TestVersionChangesWithWhatIsCopied of other models: which fields of which model.
func TestVersionChangesWithWhatIsCopied(t *testing.T) {
	const copies = `type Order @readModel(events: ["E"]) { orderId: ID! @id buyer: Person @ref } ` +
		`type Person @readModel(events: ["E"]) { id: ID! @id name: String home: Town home2: Town2 boss: Person @ref } ` +
		`type Town { name: String! } type Town2 { name: String! }`
	was := versionOf(t, copies, versionedInput)
	for _, tt := range []struct {
		old, now string
		changes  bool
	}{
		{`name: String home`, `name: String! home`, true},
		{`name: String home`, `name: String home3: Town home`, true},
		{`name: String home`, `home`, true},
		{`Town { name: String! }`, `Town { name: String }`, true},
		{`boss: Person @ref`, `boss: Person! @ref`, true},
		{`buyer: Person @ref`, `buyer: Person! @ref`, true},
		{`buyer: Person @ref`, `payer: Person @ref`, true},
		{`buyer: Person @ref`, `buyer: Person @ref(cascade: EVENTUAL)`, true},
		{`buyer: Person @ref`, `buyer: Person @ref(cascade: ON_REQUEST)`, true},
		{`buyer: Person @ref`, `buyer: Person @ref(missing: NULL)`, true},
		{`buyer: Person @ref`, `buyer: Person @ref(cascade: NONE, missing: DEAD_LETTER)`, false},
		{`buyer: Person @ref`, `buyerId: ID`, true},
		{`id: ID! @id name`, `number: ID! @id name`, true},
		{`Person`, `Somebody`, true},
		{`name: String home`, `name: String at: DateTime @updatedAt home`, false},
		{`type Person`, `"Somebody." type Person`, false},
		{`Town2`, `Place`, false},
	} {
		text := strings.ReplaceAll(copies, tt.old, tt.now)
		if changed := versionOf(t, text, versionedInput) != was; changed != tt.changes || text == copies {
			t.Errorf("%s for %s: changed is %t, want %t", tt.now, tt.old, changed, tt.changes)
		}
	}
}

// TestVersionStaysWhenCopiesFollowSoonerOrLater: what is on record is the same.
func TestVersionStaysWhenCopiesFollowSoonerOrLater(t *testing.T) {
	const eventual = `type Order @readModel(events: ["E"]) { orderId: ID! @id buyer: Person @ref(cascade: EVENTUAL) } ` +
		`type Person @readModel(events: ["E"]) { id: ID! @id name: String }`
	transactional := strings.Replace(eventual, "EVENTUAL", "TRANSACTIONAL", 1)
	if versionOf(t, eventual, versionedInput) != versionOf(t, transactional, versionedInput) {
		t.Error("the version is another")
	}
}

// TestVersionChangesWithWhatIsRead of the events: a view whose filter or decoder is another is rebuilt.
func TestVersionChangesWithWhatIsRead(t *testing.T) {
	for _, tt := range []struct {
		old, now    string
		model, view bool // whether the version of a model without tags changes, and of one with tags
	}{
		{`orderId: ID! @tag state`, `orderId: ID! @partitionTag state`, false, false},
		{`state: State`, `state: State @tag`, false, true},
		{`state: State`, `state: State!`, true, true},
		{`state: State`, `state: String`, true, true},
		{`state: State`, `stage: State`, true, true},
		{`state: State`, `state: State at: Date`, true, true},
		{`NEW DONE`, `NEW DONE LOST`, true, true},
		{`lines: [Line!]`, `lines: [Line]`, true, true},
		{`lines: [Line!]`, `lines: Line`, true, true},
		{`product: ID!`, `product: String!`, true, true},
		{`type F { orderId: ID! @tag note: String }`, `type F { orderId: String }`, false, false},
		{`state: State`, `stage: State @was(name: "state")`, false, false},
		{`state: State`, `stage: State @was(name: "state") @was(name: "phase")`, false, false},
		{`state: State`, `stage: State @was(name: "phase")`, true, true},
		{`type F {`, `type G @was(name: "F") {`, false, false},
		{`state: State`, `state: State! @default(value: NEW)`, true, true},
		{`orderId: ID! @tag state: State`, `state: State "Of the order." orderId: ID! @tag`, false, false},
		{`NEW DONE`, `DONE NEW`, false, false},
	} {
		events := strings.Replace(versionedInput, tt.old, tt.now, 1)
		if events == versionedInput {
			t.Fatalf("the events have no %s", tt.old)
		}
		for _, of := range []struct {
			schema  string
			changes bool
		}{{versionedModel, tt.model}, {versionedView, tt.view}} {
			changed := versionOf(t, of.schema, events) != versionOf(t, of.schema, versionedInput)
			if changed != of.changes {
				t.Errorf("%s for %s: the version of %s\nchanged is %t, want %t", tt.now, tt.old, of.schema, changed, of.changes)
			}
		}
	}
}
