package plan

import (
	"reflect"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/internal/argument"
	"github.com/foldql/foldql/graph/scalar"
	"github.com/foldql/foldql/internal/queryarg"
)

// TestEveryArgumentOfTheTableIsTaken finds an argument that the schema offers and no request takes.
func TestEveryArgumentOfTheTableIsTaken(t *testing.T) {
	args := reflect.TypeFor[catalog.PageArgs]()
	for _, a := range queryarg.All {
		if takesOf[a.Name] == nil {
			t.Errorf("nothing takes the argument %s", a.Name)
		}
		if _, ok := args.FieldByName(a.GoName()); !ok && (a.Group == queryarg.Operand || a.Group == queryarg.Page) {
			t.Errorf("PageArgs has no field %s", a.GoName())
		}
		if a.Typed && typedTakesOf[a.Name] == nil {
			t.Errorf("nothing takes %s as a value of its field", a.Name)
		}
	}
}

// TestANullIsReportedAlikeByBothExecutors: resolvers read an enum as a String.
func TestANullIsReportedAlikeByBothExecutors(t *testing.T) {
	status := Argument{name: "status", Variable: "s", Named: "Status", Enum: &ast.Definition{Kind: ast.Enum}}
	_, byPlan := status.Key(map[string]any{"s": nil}, true)
	_, err := scalar.UnmarshalString(nil)
	byResolver := argument.Wrong(ast.Path{ast.PathName("status")}, err)
	if byPlan == nil || err == nil || byPlan.Error() != byResolver.Error() ||
		strings.Contains(byPlan.Error(), "String") {
		t.Errorf("%v by a plan, %v by a resolver", byPlan, byResolver)
	}
}
