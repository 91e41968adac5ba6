package newproject

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/mod/module"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse"
)

// DefaultModel is the first read model of a project that is given none.
const DefaultModel = "Task"

// names are what the templates are filled in with.
type names struct {
	Module, Name string // of the project: its import path, and what its image, its service and its folders are called
	Model        string // the first read model
	Var, ID      string // its name as a field would have it, and the field that is its key
	Go, GoID     string // the model and its key as Go names them
	File         string // its projector's file, without .go
	Library      string // the import path of the library
	Replaced     bool   // a checkout is in its place
}

func newNames(modulePath, model string) names {
	v := uncapitalized(model)
	return names{
		Module: modulePath, Name: projectName(modulePath), Model: model, Var: v, ID: v + "Id",
		Go: schema.GoName(model), GoID: schema.GoName(v + "Id"), File: strings.ToLower(model), Library: libraryPath,
	}
}

// notInNames is what names of images cannot have, nor, for the most part, those of services of systemd.
var notInNames = regexp.MustCompile(`[^a-z0-9]{2,}|[^a-z0-9._-]`)

// projectName is the last element of an import path, without the major version, as images may be called.
func projectName(modulePath string) string {
	unversioned, _, _ := module.SplitPathVersion(modulePath)
	name := notInNames.ReplaceAllString(strings.ToLower(path.Base(unversioned)), "-")
	return cmp.Or(strings.Trim(name, "._-"), "server")
}

// uncapitalized is a name that begins with a small letter: task of Task, httpRoute of HTTPRoute.
func uncapitalized(name string) string {
	runes := []rune(name)
	for i := range runes {
		last := i+1 == len(runes)
		if i > 0 && !last && unicode.IsLower(runes[i+1]) || !unicode.IsUpper(runes[i]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}

var modelPattern = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,49}$`)

// CheckModel says why the first read model of a project cannot have the name.
func CheckModel(name string) error {
	if !modelPattern.MatchString(name) {
		return fmt.Errorf("the model's name is %q: begin with a capital, and use letters and digits only, at most "+
			"50, such as %s",
			name, DefaultModel)
	}
	contents, err := render(newNames("example.com/project", name))
	if err != nil {
		return err
	}
	source := func(file string) []*ast.Source { return []*ast.Source{{Name: file, Input: string(contents[file])}} }
	if _, found := parse.Load(source("schema.graphqls"), source("events.graphqls")); found.Err() != nil {
		return fmt.Errorf("the model cannot be called %s: %s: choose another name", name, found.Errors()[0].Message)
	}
	if strings.EqualFold(name, "projectors") {
		return fmt.Errorf("the model cannot be called %s: its projector's file is there already: choose another name", name)
	}
	return nil
}
