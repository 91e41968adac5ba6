package graph

import (
	"reflect"
	"testing"

	"github.com/foldql/foldql/internal/queryarg"
)

// TestEveryArgumentOfTheTableIsTaken finds an argument that the schema offers and no request takes.
func TestEveryArgumentOfTheTableIsTaken(t *testing.T) {
	args := reflect.TypeFor[PageArgs]()
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
