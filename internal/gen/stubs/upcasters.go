package stubs

import (
	"fmt"
	"io"

	"github.com/foldql/foldql/internal/schema"
)

// upcastersName is the type of the upcasters where a project has none yet.
const upcastersName = "Upcasters"

// upcastersOf are the upcasters that the schema asks for: a method from each version of an event to the next.
func (c *userCode) upcastersOf(m *schema.Model) piece {
	next := map[string]string{}
	p := piece{name: upcastersName, what: "make data of each version of an event of those of the version before",
		imports: []string{c.module + "/event"}, found: c.upcasters, isFound: c.upcasters.file != ""}
	for _, t := range m.Events {
		for i, former := range t.Former {
			name := schema.GoName(former.Name)
			p.methods = append(p.methods, name)
			next[name] = schema.GoName(t.VersionName(i + 2))
		}
	}
	p.stub = func(receiver, name string, imported map[string]string) string {
		event := imported[c.module+"/event"]
		return fmt.Sprintf("\n// %s is to be written: until then events of that version become dead letters.\n"+
			"func (%s) %s(former %s.%s) (%s.%s, error) {\n\tpanic(%q)\n}\n", name, receiver, name, event, name, event,
			next[name], "upcaster "+name+" is not written yet")
	}
	return p
}

// upcastersFor is the argument that follows a projector in a call that makes its projection, "" where there is none.
func (c *userCode) upcastersFor(p piece) string {
	if !p.upcasted {
		return ""
	}
	if c.upcasters.typ != "" {
		return ", " + c.upcasters.typ + "{}"
	}
	return ", " + upcastersName + "{}"
}

// tellWithoutUpcasters names the calls that make projections without the upcasters that they need, or with some that
// they do not.
func tellWithoutUpcasters(c *userCode, projectors []piece, out io.Writer) error {
	for _, p := range projectors {
		if !p.isFound || p.found.upcasters == p.upcasted {
			continue
		}
		what := "takes events of several versions, and needs the upcasters"
		if !p.upcasted {
			what = "takes no events of several versions any more, and no upcasters"
		}
		_, err := fmt.Fprintf(out, "warning: %s: ops.Project%s %s (fix: call ops.Project%s(%s{}%s))\n", p.found.file, p.name,
			what, p.name, p.name, c.upcastersFor(p))
		if err != nil {
			return fmt.Errorf("tell what was found: %w", err)
		}
	}
	return nil
}
