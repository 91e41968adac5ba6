package schema

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// headVector is a key of the system that the key design guides document.
type headVector struct {
	ID, Op, EntityType string
	Schema             struct {
		Name, Casing string
		Version      int
	}
	Index struct {
		Collection               any
		Type, Casing             *string
		PKComposite, SKComposite []string
	}
	Expected json.RawMessage
}

// TestKeysBeginAsTheVectorsDo: what an annotation makes of schema, version, type, collections and casing is what the
// documented system makes of them.
func TestKeysBeginAsTheVectorsDo(t *testing.T) {
	text, err := os.ReadFile("../../keys/testdata/vectors/effect-keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []headVector }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, v := range file.Cases {
		if v.Op != "index" || !areFields(v.Index.PKComposite) || !areFields(v.Index.SKComposite) {
			continue
		}
		ran++
		var want struct{ PK, SK string }
		if err := json.Unmarshal(v.Expected, &want); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		x := vectorIndex(v)
		for _, half := range []struct {
			half Half
			want string
		}{{x.PK, want.PK}, {x.SK, want.SK}} {
			begins := half.half.Layout.Head
			if len(half.half.Fields) > 0 {
				begins += "#" + half.half.Layout.Segments[0].Before
			}
			if !strings.HasPrefix(half.want, begins) || len(half.half.Fields) == 0 && half.want != begins {
				t.Errorf("%s: begins with %s, want %s", v.ID, begins, half.want)
			}
		}
	}
	if ran < 100 {
		t.Errorf("only %d vectors ran", ran)
	}
}

var vectorFields = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// areFields reports whether a schema can have fields of these names.
func areFields(names []string) bool {
	for _, name := range names {
		if !vectorFields.MatchString(name) {
			return false
		}
	}
	return true
}

// vectorIndex is the index of a vector as @gsi makes it.
func vectorIndex(v headVector) *Index {
	table := NewTable("T")
	table.Schema, table.Version, table.Casing = v.Schema.Name, v.Schema.Version, vectorCasing(v.Schema.Casing)
	x := &Index{Casing: table.Casing}
	if v.Index.Casing != nil {
		x.Casing = vectorCasing(*v.Index.Casing)
	}
	switch c := v.Index.Collection.(type) {
	case string:
		x.Collection = []string{c}
	case []any:
		for _, name := range c {
			x.Collection = append(x.Collection, name.(string))
		}
	}
	x.Clustered = len(x.Collection) > 0 && v.Index.Type != nil && *v.Index.Type == "clustered"
	fields := func(names []string) (all []*Field) {
		for _, name := range names {
			all = append(all, &Field{Name: name, Scalar: "String"})
		}
		return all
	}
	table.ComposeIndex(x, v.EntityType, fields(v.Index.PKComposite), fields(v.Index.SKComposite))
	return x
}

func vectorCasing(casing string) string {
	return map[string]string{"lowercase": lowercase, "uppercase": uppercase, "preserve": NoCasing}[casing]
}
