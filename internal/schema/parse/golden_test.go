package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/keys"
)

var update = flag.Bool("update", false, "write what is found as what is wanted")

// TestGoodSchemasMakeTheirModel: every folder of testdata/good gives the Model of its want.json, and the warnings of
// its want.txt.
func TestGoodSchemasMakeTheirModel(t *testing.T) {
	cases := folders(t, "testdata/good")
	if len(cases) < 25 {
		t.Errorf("%d good schemas, want 25 at least", len(cases))
	}
	for _, dir := range cases {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			model, found := load(t, dir)
			if model == nil {
				t.Fatalf("no model:\n%v", found)
			}
			golden(t, filepath.Join(dir, "want.json"), dump(t, model))
			warnings := ""
			if len(found) > 0 {
				warnings = found.Error() + "\n"
			}
			golden(t, filepath.Join(dir, "want.txt"), warnings)
		})
	}
}

// TestBadSchemasAreExplained: every folder of testdata/bad gives the diagnostics of its want.txt, and no Model.
func TestBadSchemasAreExplained(t *testing.T) {
	for _, dir := range folders(t, "testdata/bad") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			model, found := load(t, dir)
			if model != nil {
				t.Error("a model was made of it")
			}
			golden(t, filepath.Join(dir, "want.txt"), found.Error()+"\n")
		})
	}
}

// TestEveryRuleHasACase: no message is there that no schema of testdata brings about, and no two rules share a code.
func TestEveryRuleHasACase(t *testing.T) {
	met := map[string]bool{}
	for _, kind := range []string{"good", "bad"} {
		for _, dir := range folders(t, filepath.Join("testdata", kind)) {
			_, found := load(t, dir)
			for _, d := range found {
				met[d.Code] = true
				if text := d.Error(); strings.Contains(text, "{1}") || strings.Contains(text, "{2}") || strings.Contains(text,
					"{3}") || strings.Contains(text, "{4}") || strings.Contains(text, "{5}") {
					t.Errorf("%s: a blank is not filled in: %s", dir, text)
				}
			}
		}
	}
	codes := map[string]bool{}
	for _, r := range rule.All {
		if codes[r.Code] {
			t.Errorf("two rules have the code %s", r.Code)
		}
		codes[r.Code] = true
		if !met[r.Code] {
			t.Errorf("rule %s has no case in testdata", r.Code)
		}
	}
}

func folders(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	return all
}

// load reads the schemas of a case; positions name files without the folder.
func load(t *testing.T, dir string) (*schema.Model, schema.Diagnostics) {
	t.Helper()
	relayID, err := os.ReadFile(filepath.Join(dir, "relay"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	settings := Settings{RelayID: string(relayID)}
	model, found := settings.Load(sources(t, dir, "schema*.graphqls"), sources(t, dir, "events*.graphqls"))
	text, err := os.ReadFile(filepath.Join(dir, eventlock.File))
	if err != nil || model == nil {
		return model, found
	}
	lock, wrong := eventlock.Read(string(text))
	if lock != nil {
		wrong = lock.Check(model)
	}
	if len(wrong) > 0 {
		return nil, append(found, wrong...)
	}
	lock.Next(model)
	return model, found
}

func sources(t testing.TB, dir, pattern string) []*ast.Source {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var all []*ast.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &ast.Source{Name: filepath.Base(file), Input: string(text)})
	}
	return all
}

// golden compares got with a file; an empty text stands for no file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if got == "" {
			os.Remove(file)
			return
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil && (got != "" || !os.IsNotExist(err)) {
		t.Fatalf("%v (write it with -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (- want, + got):\n%s", file, diff)
	}
}

// dump writes a model as JSON in which fields, models and indexes stand by name.
func dump(t *testing.T, m *schema.Model) string {
	t.Helper()
	var models []any
	for _, r := range m.ReadModels {
		models = append(models, dumpReadModel(r))
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	all := map[string]any{
		"readModels": models, "enums": m.Enums, "eventEnums": m.EventEnums,
		"events": dumpEvents(m.Events), "values": dumpEvents(m.Values),
	}
	if len(m.Retired) > 0 {
		all["retired"] = dumpEvents(m.Retired)
	}
	if len(m.Objects) > 0 {
		all["objects"] = m.Objects
	}
	if len(m.Tables) > 0 {
		all["tables"], all["collections"] = dumpTables(m.Tables), dumpCollections(m.Collections)
	}
	if err := enc.Encode(all); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func dumpReadModel(r *schema.ReadModel) map[string]any {
	var indexes, joins, queries []any
	for _, x := range r.Indexes {
		d := map[string]any{
			"name": x.Name, "unnamed": x.Unnamed, "pk": dumpHalf(x.PK), "sk": dumpHalf(x.SK), "projection": x.Projection,
			"include": names(x.Include), "group": x.Group, "pos": x.Pos.String(),
		}
		if x.AuthTable != nil {
			d["authTable"] = x.AuthTable.Name
		}
		if r.Entity != nil {
			dumpEntityIndex(d, x)
		}
		indexes = append(indexes, d)
	}
	for _, j := range r.Joins {
		d := map[string]any{
			"name": j.Name, "source": j.Source.Name, "target": j.Target.Name, "many": j.Many, "auth": j.Auth,
			"pos": j.Pos.String(),
		}
		if j.Via != nil {
			d["via"] = j.Via.As
		}
		if j.Via != nil || len(j.By) > 1 {
			d["key"] = strings.Join(schema.FieldNames(j.Keys), ", ")
		}
		if len(j.By) > 1 {
			d["by"] = strings.Join(schema.FieldNames(j.By), ", ")
		}
		joins = append(joins, d)
	}
	for _, q := range r.Queries() {
		queries = append(queries, dumpQuery(q))
	}
	d := map[string]any{
		"name": r.Name, "description": r.Description, "plugin": r.Plugin, "table": r.Table, "stateView": r.StateView,
		"events": r.Events, "stream": r.Stream, "tags": r.Tags, "projector": r.Projector, "atomic": r.Atomic,
		"version": r.Version, "fields": r.Fields, "joins": joins, "pk": dumpHalf(r.PK), "sk": dumpHalf(r.SK),
		"compositePK": r.CompositePK, "compositeSK": r.CompositeSK, "indexes": indexes, "auth": r.Auth,
		"ttl": name(r.TTL), "createdAt": name(r.CreatedAt), "updatedAt": name(r.UpdatedAt), "owner": name(r.Owner),
		"pos": r.Pos.String(), "queries": queries, "subId": r.SubID(),
	}
	if r.Entity != nil {
		d["entity"] = r.Entity.Type + " of " + r.Entity.Table.Name
	}
	if s := r.Series; s != nil {
		d["series"] = map[string]any{"orderBy": name(s.OrderBy), "append": names(s.Append), "keep": s.Keep.String(),
			"writer": s.Writer.Projector, "history": s.History.Name, "pos": s.Pos.String()}
	}
	if len(r.References) > 0 {
		d["references"] = dumpReferences(r.References)
	}
	if a := r.Aggregate; a != nil {
		d["aggregate"] = map[string]any{"collection": a.Collection, "nodes": dumpNodes(a.Root), "places": dumpPlaces(r),
			"pos": a.Pos.String()}
		if a.Local != nil {
			d["local"] = a.Local.Name + " " + dumpHalf(a.Local.PK) + " " + dumpHalf(a.Local.SK)
		}
	}
	if w := r.Writers[0]; len(r.Writers) > 1 || r.Entity != nil {
		d["writers"] = dumpWriters(r.Writers)
	} else if len(w.Writes)+len(schema.Composites(r.PK, r.SK)) != len(r.Fields) {
		d["writes"] = names(w.Writes)
	}
	return d
}

func dumpNodes(root *schema.Node) (all []any) {
	for _, n := range root.All() {
		d := map[string]any{"name": n.Name, "kind": n.Kind, "sk": dumpHalf(n.SK), "own": names(n.Own),
			"context": names(n.Context)}
		for _, by := range n.Discriminators {
			d["by "+by.Name] = by.Scalar + " " + by.Text + strconv.FormatInt(by.Int, 10)
		}
		if n.Edge != nil {
			d["orderBy"], d["many"], d["optional"] = name(n.Edge.OrderBy), n.Edge.Many, n.Edge.Field.Nullable
		}
		all = append(all, d)
	}
	return all
}

func dumpPlaces(r *schema.ReadModel) (all []string) {
	for _, p := range r.Places() {
		all = append(all, p.Path+" by "+p.Reference.ID.Name+" of "+p.Reference.Source.Name)
	}
	return all
}

func dumpReferences(references []*schema.Reference) (all []any) {
	for _, r := range references {
		text := r.Copy.Name + ": " + r.Copy.Object.Name + " of " + r.Source.Name + " by " + r.ID.Name
		if r.Cascade != schema.CascadeNone {
			text += ", follows: " + string(r.Cascade)
		}
		if r.NullIfMissing {
			text += ", null if missing"
		}
		all = append(all, text)
	}
	return all
}

func dumpQuery(q schema.Query) string {
	text := q.Name + "(" + strings.Join(q.Args, ", ") + ") " + q.Connection
	if q.Operand != "" {
		text += " of " + strings.Join(names(q.Optional), ", ") + " by " + q.Operand
	}
	return text
}

func dumpEntityIndex(d map[string]any, x *schema.Index) {
	d["as"], d["attributes"], d["policy"], d["casing"] = x.As, x.PKAttribute+" "+x.SKAttribute, x.Policy.PK+" "+
		x.Policy.SK, x.Casing
	if len(x.Collection) > 0 {
		d["collection"], d["clustered"] = x.Collection, x.Clustered
	}
	if x.Unique {
		d["unique"] = true
	}
}

func dumpWriters(writers []*schema.Writer) []any {
	var all []any
	for _, w := range writers {
		all = append(all, map[string]any{
			"projector": w.Projector, "stateView": w.StateView, "events": w.Events, "stream": w.Stream, "tags": w.Tags,
			"writes": names(w.Writes), "pos": w.Pos.String(),
		})
	}
	return all
}

func dumpTables(tables []*schema.Table) []any {
	var all []any
	for _, t := range tables {
		var entities, indexes []string
		for _, m := range t.Entities {
			entities = append(entities, m.Name)
		}
		for _, p := range t.Indexes {
			text := p.Name + "(" + p.PK + ", " + p.SK + ") " + p.Projection + " " + strings.Join(p.Include, ", ") + ":"
			for _, u := range p.Uses {
				text += " " + u.Model.Name + "." + u.Index.As
			}
			indexes = append(indexes, text)
		}
		all = append(all, map[string]any{
			"name": t.Name, "schema": t.Schema, "version": t.Version, "casing": t.Casing, "escape": t.Escape,
			"pk": t.PK, "sk": t.SK, "discriminator": t.Discriminator, "entities": entities, "indexes": indexes,
			"pos": t.Pos.String(),
		})
	}
	return all
}

func dumpCollections(collections []*schema.Collection) []any {
	var all []any
	for _, c := range collections {
		var members []string
		for _, m := range c.Members {
			members = append(members, m.Model.Name+"."+m.Index.As)
		}
		all = append(all, map[string]any{
			"name": c.Name, "as": c.As, "table": c.Table.Name, "index": c.Index.Name, "path": c.Path, "clustered": c.Clustered,
			"pk":      names(c.PK),
			"members": members, "prefix": c.Prefix(), "query": dumpQuery(c.Query()), "union": c.Union(), "enum": c.MemberEnum(),
			"pos": c.Pos.String(),
		})
	}
	return all
}

func dumpHalf(h schema.Half) string {
	if h.Layout.Head == "" && h.Template == "" {
		return strings.Join(names(h.Fields), " "+h.Layout.Sep+" ")
	}
	text := h.Text() + " " + h.Casing()
	if h.Layout.Escape == keys.EscapeNone {
		text += " unescaped"
	}
	for _, s := range h.Layout.Segments {
		if s.Digits > 0 {
			text += " " + s.Field + ":" + strconv.Itoa(s.Digits)
		}
	}
	return text
}

func name(f *schema.Field) string {
	if f == nil {
		return ""
	}
	return f.Name
}

func names(fs []*schema.Field) []string {
	var all []string
	for _, f := range fs {
		all = append(all, f.Name)
	}
	return all
}

func dumpEvents(types []*schema.EventType) []any {
	var all []any
	for _, e := range types {
		var fields []any
		for _, f := range e.Fields {
			d := *f
			d.Object = nil
			object := ""
			if f.Object != nil {
				object = f.Object.Name
			}
			fields = append(fields, struct {
				schema.EventField
				Object string
			}{d, object})
		}
		d := map[string]any{"name": e.Name, "description": e.Description, "fields": fields, "pos": e.Pos.String()}
		if len(e.Was) > 0 {
			d["was"] = e.Was
		}
		if e.Version > 1 {
			d["version"], d["former"] = e.Version, dumpEvents(e.Former)
		}
		all = append(all, d)
	}
	return all
}
