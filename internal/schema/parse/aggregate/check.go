package aggregate

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// checkParts holds the parts of an aggregate against one another.
func (k *keyReader) checkParts(root *schema.Node) {
	all := root.All()
	for i, n := range all {
		k.checkSubs(n)
		k.checkDiscriminators(n)
		if n.Edge != nil {
			k.checkKind(n, all[:i])
		}
	}
}

// checkKind finds items of one type that would not have the same fields.
func (k *keyReader) checkKind(n *schema.Node, before []*schema.Node) {
	for _, other := range before {
		name := other.Name
		if name == "" {
			name = "the aggregate itself"
		}
		part := k.Project.PartOf(n.Edge)
		if n.OtherType(other) {
			part.Report(rule.PartKind, n.Edge.Pos, n.Edge.Field, n.Kind, name)
			break
		}
		if by := otherScalar(n, other); by != "" {
			part.Report(rule.DiscriminatorName, n.Edge.Pos, n.Edge.Field, by, "of another type in "+name)
			break
		}
	}
	if n.Kind != "" && !draft.KeyNamePattern.MatchString(n.Kind) {
		part := k.Project.PartOf(n.Edge)
		part.Report(rule.AggregateName, n.Edge.Pos, n.Edge.Field, "the type", "\""+n.Kind+"\"")
	}
}

// checkSubs finds parts of a part that are of one type and told apart by nothing.
func (k *keyReader) checkSubs(n *schema.Node) {
	for i, c := range n.Children {
		for _, other := range n.Children[:i] {
			if c.Alike(other) {
				k.Project.PartOf(c.Edge).Report(rule.SubAlike, c.Edge.Pos, c.Edge.Field, c.Edge.Field.Object.Name,
					other.Edge.Field.Name)
				break
			}
		}
	}
}

// checkDiscriminators finds names that an item of the node would have twice.
func (k *keyReader) checkDiscriminators(n *schema.Node) {
	if len(n.Discriminators) == 0 {
		return
	}
	inner := len(n.Discriminators) - len(n.Edge.Discriminators)
	for i, by := range n.Discriminators {
		is := ""
		named := func(f *schema.Field) bool { return strings.EqualFold(f.Name, by.Name) }
		switch {
		case i >= inner && slices.ContainsFunc(n.Discriminators[:i], func(o schema.Discriminator) bool {
			return strings.EqualFold(o.Name, by.Name)
		}):
			is = "that of a part around it"
		case slices.ContainsFunc(n.Own, named):
			is = "a field of " + n.Edge.Field.Object.Name
		case slices.ContainsFunc(k.Aggregate.Context, named):
			is = "context of the aggregate"
		}
		if is != "" {
			k.Project.PartOf(n.Edge).Report(rule.DiscriminatorName, n.Edge.Pos, n.Edge.Field, by.Name, is)
		}
	}
}

// CheckTypes finds types with @subAggregate and @member that are part of no aggregate, or are another thing besides.
func CheckTypes(p *draft.Project) {
	for _, def := range p.API.Types {
		var first *ast.Directive
		for _, dir := range def.Directives {
			part := dir.Name == "subAggregate" || dir.Name == "member"
			switch {
			case !part && !sdl.IsModelMark(dir.Name):
			case first == nil:
				first = dir
			case part || !sdl.IsModelMark(first.Name):
				p.Add(rule.PartTwice.Broken(sdl.Position(dir.Position), def.Name, "", first.Name, dir.Name))
			}
		}
		if p.Parts[def] == nil && sdl.IsPart(def) && !sdl.IsModel(def) {
			p.Add(rule.PartUnused.Broken(sdl.Position(def.Position), def.Name, ""))
		}
	}
}

// otherScalar finds a discriminator that is a number in the items of one node and a text in those of another.
func otherScalar(n, other *schema.Node) string {
	for _, by := range n.Discriminators {
		for _, its := range other.Discriminators {
			if n.Kind == other.Kind && by.Name == its.Name && by.Scalar != its.Scalar {
				return by.Name
			}
		}
	}
	return ""
}
