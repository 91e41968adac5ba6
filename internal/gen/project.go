package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/goccy/go-yaml"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/mod/modfile"

	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/schema/parse"
)

// Names of what a project is made of, in the folder of its configuration.
const (
	configFile = "gqlgen.yml"
	eventsFile = "events.graphqls"
	lockFile   = eventlock.File
)

// project is a project as it stands on disk, before anything is generated.
type project struct {
	code       string // the folder that the generated code goes to, absolute
	module     string // import path of code
	root       string // the folder of the Go module that code is in, as seen from code
	relayID    string // the field of Node; "" for a project without Relay
	editor     string // path, from code, of the file for editors, which stands beside the schemas
	config     *config.Config
	goTypes    config.TypeMap // that the configuration gives types of the API
	schemas    []string       // names and patterns of files, as the configuration has them
	readModels []*ast.Source
	events     []*ast.Source
	lock       string // text of the lock of the events; "" where there is none yet
	nextLock   string // the text that the schema wants
	lockPath   string // of the file, as editor
	dev        devSettings
}

// open reads the project whose configuration stands in the working directory, which gqlgen reads relative to.
func open() (*project, error) {
	home, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	p := &project{}
	if err := p.readSchemas(); err != nil {
		return nil, err
	}
	p.code = filepath.Join(home, filepath.FromSlash(p.code))
	if p.module, p.root, err = importPath(p.code); err != nil {
		return nil, err
	}
	back, err := filepath.Rel(p.code, home)
	if err != nil {
		return nil, fmt.Errorf("find the way from %s to %s: %w", p.code, home, err)
	}
	p.editor, p.lockPath = filepath.Join(back, editorFile), filepath.Join(back, lockFile)
	return p, nil
}

// readSchemas reads the configuration in the working directory, and the schemas that it names.
func (p *project) readSchemas() (err error) {
	var own settings
	p.config, own, err = readConfig()
	if p.code, p.dev, p.relayID, p.schemas = own.Code, own.Dev, own.relayID(), own.schemas; err != nil {
		return err
	}
	p.goTypes = p.config.Models
	for _, src := range p.config.Sources {
		// A pattern may cover files that are no part of the API.
		if !isAlso(src.Name, eventsFile) && !strings.HasPrefix(src.Input, strings.TrimSpace(schemaHeader)) {
			p.readModels = append(p.readModels, src)
		}
	}
	if err := checkNamedFiles(p.schemas); err != nil { // whoever watches the files knows the others by now
		return err
	}
	if len(p.readModels) == 0 {
		return fmt.Errorf("%s: schema names no file that is there: name the schema of the read models", configFile)
	}
	if err := p.readEvents(""); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the events are declared in %s, beside %s", err, eventsFile, configFile)
	} else if err != nil {
		return err
	}
	return nil
}

// isAlso reports whether two paths are of one file.
func isAlso(path, other string) bool {
	one, oneErr := os.Stat(path)
	two, twoErr := os.Stat(other)
	return oneErr == nil && twoErr == nil && os.SameFile(one, two)
}

// readEvents reads the events in a folder, and the lock of them where there is one.
func (p *project) readEvents(dir string) error {
	name := filepath.Join(dir, eventsFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read the events: %w", err)
	}
	p.events = []*ast.Source{{Name: name, Input: string(text)}}
	if text, err = outfile.Read(filepath.Join(dir, lockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read what the events of a log may hold: %w", err)
	}
	p.lock = string(text)
	return nil
}

// enterCode goes to the folder that the generated code goes to, and makes it.
func (p *project) enterCode() error {
	if err := os.MkdirAll(p.code, 0o755); err != nil {
		return fmt.Errorf("make the folder of the generated code: %w", err)
	}
	if err := os.Chdir(p.code); err != nil {
		return fmt.Errorf("go to the folder of the generated code: %w", err)
	}
	return nil
}

// enter goes to the folder of the project that dir belongs to, and returns the way back.
func enter(dir string) (leave func() error, err error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find the folder %s: %w", dir, err)
	}
	for from := root; ; root = filepath.Dir(root) {
		_, err := os.Stat(filepath.Join(root, configFile))
		switch {
		case err == nil:
			if err := os.Chdir(root); err != nil {
				return nil, fmt.Errorf("go to the project: %w", err)
			}
			return func() error { return os.Chdir(start) }, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("look for %s: %w", configFile, err)
		case root == filepath.Dir(root):
			return nil, fmt.Errorf("no %s in %s or above: go to a project, or make one with foldql init", configFile, from)
		}
	}
}

// importPath is the import path of a folder, from the go.mod in it or above, and where that stands, as seen from the
// folder.
func importPath(dir string) (importPath, root string, err error) {
	for root := dir; ; root = filepath.Dir(root) {
		text, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if errors.Is(err, fs.ErrNotExist) && root != filepath.Dir(root) {
			continue
		}
		if err != nil {
			return "", "", fmt.Errorf("find the module of %s: %w", dir, err)
		}
		module := modfile.ModulePath(text)
		if module == "" {
			return "", "", fmt.Errorf("%s names no module", filepath.Join(root, "go.mod"))
		}
		below, err := filepath.Rel(root, dir)
		if err != nil {
			return "", "", fmt.Errorf("find %s in its module: %w", dir, err)
		}
		above, err := filepath.Rel(dir, root)
		if err != nil {
			return "", "", fmt.Errorf("find the module of %s: %w", dir, err)
		}
		return path.Join(module, filepath.ToSlash(below)), above, nil
	}
}

// fixed are the settings of gqlgen that are not the project's to make, because other generated code relies on them.
var fixed = []string{
	"exec", "model", "resolver", "federation", "autobind", "struct_tag", "omit_getters", "omit_complexity",
	"omit_root_models", "use_function_syntax_for_execution_context", "directives", "skip_validation", "skip_mod_tidy",
	"omit_slice_element_pointers", "resolvers_always_return_pointers",
}

// readConfig reads gqlgen's configuration, and foldql's own part of it.
func readConfig() (cfg *config.Config, own settings, err error) {
	text, err := os.ReadFile(configFile)
	if err != nil {
		return nil, own, fmt.Errorf("read the configuration: %w", err)
	}
	var given map[string]any
	if err := yaml.Unmarshal(text, &given); err != nil {
		return nil, own, fmt.Errorf("read %s: %w", configFile, err)
	}
	for key := range given {
		if slices.Contains(fixed, key) {
			return nil, own, fmt.Errorf("%s: %s is not for a project to set: take it out", configFile, key)
		}
	}
	if part, ok := given["foldql"]; ok {
		if own, err = readSettings(part); err != nil {
			return nil, own, err
		}
	}
	var named struct {
		Schema config.StringList `yaml:"schema"`
	}
	if err := yaml.Unmarshal(text, &named); err != nil {
		return nil, own, fmt.Errorf("read %s: %w", configFile, err)
	}
	if given == nil { // the file is empty
		given = map[string]any{}
	}
	delete(given, "foldql")      // gqlgen accepts its own keys only,
	given["schema"] = []string{} // and would read files that editors keep beside the schemas
	if text, err = yaml.Marshal(given); err != nil {
		return nil, own, fmt.Errorf("read %s: %w", configFile, err)
	}
	if cfg, err = config.ReadConfig(bytes.NewReader(text)); err != nil {
		return nil, own, fmt.Errorf("read %s: %w", configFile, err)
	}
	names := named.Schema
	if own.schemas = names; names == nil {
		names = config.DefaultConfig().SchemaFilename
	}
	cfg.Sources, err = readSchemaFiles(names)
	return cfg, own, err
}

// checkNamedFiles wants a file of each name and pattern of schemas: of a name with an error in it, all types would be
// gone.
func checkNamedFiles(names []string) error {
	for _, name := range names {
		files, err := readSchemaFiles([]string{name})
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s: schema names %s, and there is no such file: correct the name, restore the file, or take "+
				"the name out", configFile, name)
		}
	}
	return nil
}

// load checks the whole schema, and what the events of a log may hold against it; the Model is nil where it has errors.
func (p *project) load() (*schema.Model, schema.Diagnostics) {
	model, found := parse.Settings{RelayID: p.relayID}.Load(p.readModels, p.events)
	if model == nil {
		return nil, found
	}
	lock, wrong := eventlock.Read(p.lock)
	if lock != nil {
		wrong = lock.Check(model)
	}
	if found = append(found, wrong...); len(wrong) > 0 {
		return nil, found
	}
	p.nextLock = lock.Next(model)
	return model, found
}
