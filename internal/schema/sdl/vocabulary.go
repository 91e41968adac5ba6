package sdl

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

var (
	//go:embed scalars.graphqls
	scalarText string
	//go:embed directives.graphqls
	directiveText string
	//go:embed eventdirectives.graphqls
	eventDirectiveText string
	//go:embed lockdirectives.graphqls
	lockDirectiveText string
)

// Scalars returns the SDL of the scalars that both schemas may use.
func Scalars() string { return scalarText }

// Directives returns the SDL of the scalars, the directives and their argument types that the schema of the read models
// may use.
func Directives() string { return scalarText + "\n" + directiveText }

// EventDirectives returns the SDL of the scalars and directives that the schema of the events may use.
func EventDirectives() string { return scalarText + "\n" + eventDirectiveText }

// BuildDirectives are the names of the directives that steer the generator and that the served schema does not show.
func BuildDirectives() []string {
	var names []string
	for _, d := range ReadModels.document.Directives {
		names = append(names, d.Name)
	}
	return names
}

// BuildTypes are the names of the types that appear in the arguments of BuildDirectives alone.
func BuildTypes() []string {
	var names []string
	for _, d := range ReadModels.document.Definitions {
		if !slices.Contains(ScalarNames, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// ScalarNames are the types that a stored field and a field of an event can have.
var ScalarNames = []string{"ID", "String", "Boolean", "Int", "Int64", "Float", "Decimal", "Date", "DateTime"}

// Vocabulary is what one kind of schema may say.
type Vocabulary struct {
	ofEvents   bool
	document   *ast.SchemaDocument
	Directives map[string]*ast.DirectiveDefinition
	Types      map[string]*ast.Definition
}

// What each kind of schema may say.
var (
	// ReadModels is that of the schemas of read models.
	ReadModels = newVocabulary(Directives(), false)
	// Events is that of the schemas of events.
	Events = newVocabulary(EventDirectives(), true)
	// EventLock is that of the file which remembers what the events of a log may hold.
	EventLock = newVocabulary(EventDirectives()+"\n"+lockDirectiveText, true)
)

// deprecated is the one directive of GraphQL itself that stands on what we read.
const deprecated = `
directive @deprecated(reason: String = "No longer supported")
  on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
directive @specifiedBy(url: String!) on SCALAR
directive @oneOf on INPUT_OBJECT`

// newVocabulary parses definitions of our own; that they parse is proven by every test.
func newVocabulary(text string, ofEvents bool) Vocabulary {
	own, err := parser.ParseSchema(&ast.Source{Name: "foldql", Input: text})
	if err != nil {
		panic(err)
	}
	standard, err := parser.ParseSchema(&ast.Source{Name: "GraphQL", Input: deprecated})
	if err != nil {
		panic(err)
	}
	v := Vocabulary{ofEvents: ofEvents, document: own, Directives: map[string]*ast.DirectiveDefinition{},
		Types: map[string]*ast.Definition{}}
	for _, d := range slices.Concat(own.Directives, standard.Directives) {
		v.Directives[d.Name] = d
	}
	for _, d := range own.Definitions {
		v.Types[d.Name] = d
	}
	return v
}

// signature writes the arguments that a directive takes: "table, field, via".
func signature(d *ast.DirectiveDefinition) string {
	if len(d.Arguments) == 0 {
		return "no arguments"
	}
	return strings.Join(argumentNames(d), ", ")
}

func argumentNames(d *ast.DirectiveDefinition) []string {
	names := make([]string, len(d.Arguments))
	for i, a := range d.Arguments {
		names[i] = a.Name
	}
	return names
}
