package collision

import (
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
)

// checkItems finds parts of an aggregate whose items could have the same keys. Those of sub-aggregates that nothing
// tells apart are reported with these.
func (l *collisionChecker) checkItems(a *schema.Aggregate) {
	all := a.Root.All()
	for i, n := range all {
		for _, other := range all[:i] {
			if n.OtherType(other) || withinAlike(a.Root, n, other) {
				continue // reported as that
			}
			if l.keysOf(&n.SK).overlaps(l.keysOf(&other.SK)) {
				what := "the aggregate itself"
				if other.Name != "" {
					what = other.Name
				}
				l.PartOf(n.Edge).Report(rule.PartKeys, n.Edge.Pos, n.Edge.Field, n.SK.Text(), what)
			}
		}
	}
}

// withinAlike reports whether two nodes lie in parts that are reported as alike.
func withinAlike(root, n, other *schema.Node) bool {
	for _, part := range root.All() {
		for i, a := range part.Children {
			for _, b := range part.Children[:i] {
				if a.Alike(b) && within(n, a) && within(other, b) {
					return true
				}
			}
		}
	}
	return false
}

func within(n, part *schema.Node) bool {
	return n == part || strings.HasPrefix(n.Name, part.Name+".")
}

// isLocal reports whether the index is one that the API does not read.
func isLocal(u schema.IndexUse) bool {
	return u.Model.Aggregate != nil && u.Index == u.Model.Aggregate.Local
}
