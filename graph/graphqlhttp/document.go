package graphqlhttp

import (
	"context"
	"errors"
	"maps"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/docsize"
	"github.com/foldql/foldql/graph/internal/introspection"
	"github.com/foldql/foldql/internal/unreadable"
)

// documents reads query documents and keeps those that are right.
type documents struct {
	schema *ast.Schema
	rules  []core.Rule
	quiet  []core.Rule // those of long documents
	limits limits
	tokens int
	cache  *cache
	memos  int // interceptors, each of which remembers something of each operation

	introspection *introspection.Limit
}

func newDocuments(in *inputs, cfg Config) *documents {
	return &documents{
		schema: withoutDefer(in.schema),
		rules:  rulesFor(in, cfg, cfg.Introspection),
		quiet:  rulesFor(in, cfg, false),
		limits: limits{depth: cfg.MaxDepth, aliases: cfg.MaxAliases, roots: cfg.MaxRootFields, fields: cfg.MaxFields},
		tokens: cfg.MaxTokens,
		cache:  newCache(cfg.CacheBytes),
		memos:  len(cfg.Interceptors),

		introspection: introspection.Of(in.schema),
	}
}

// DocumentCheck returns a function that says what is wrong with a document, as a handler of the schema and the
// configuration would answer whatever request asks it: mistakes and limits. It says nothing of variables.
func DocumentCheck(es graphql.ExecutableSchema, cfg Config) func(document string) error {
	docs := newDocuments(inputsOf(es), cfg.withDefaults())
	return func(document string) error {
		if _, errs := docs.read(document); len(errs) > 0 {
			return errs
		}
		return nil
	}
}

// Asked is what a request asks, as a handler reads it: numbers of the document that their scalars read as texts are
// texts.
type Asked struct {
	Document  *ast.QueryDocument
	Operation *ast.OperationDefinition
	Variables map[string]any // with their defaults
}

// ReadRequest reads a document, the operation of it that has the name, "" where it has one, and the values of its
// variables, which are those of JSON with json.Number for numbers. Its error is what a handler of the schema and the
// configuration would answer such a request.
func ReadRequest(es graphql.ExecutableSchema, cfg Config, document, operation string, variables map[string]any) (Asked,
	error) {
	in := inputsOf(es)
	doc, errs := newDocuments(in, cfg.withDefaults()).read(document)
	if len(errs) > 0 {
		return Asked{}, errs
	}
	op, err := operationOf(doc, operation)
	if err != nil {
		return Asked{}, err
	}
	values := maps.Clone(variables)
	if err := in.read(op, values); err != nil {
		return Asked{}, err
	}
	if values, errs = in.coerce(op, values); len(errs) > 0 {
		return Asked{}, errs
	}
	return Asked{doc, op, values}, nil
}

// withoutDefer returns the schema without @defer: an answer over this transport is one response, and what is deferred
// would be missing from it.
func withoutDefer(schema *ast.Schema) *ast.Schema {
	fresh := *schema
	fresh.Directives = maps.Clone(schema.Directives)
	delete(fresh.Directives, "defer")
	return &fresh
}

// rulesFor are the rules of validation, in the order of their names; where suggesting, messages say which names may
// have been meant.
func rulesFor(in *inputs, cfg Config, suggesting bool) []core.Rule {
	var all []core.Rule
	for name, rule := range rulesByName(in, cfg, suggesting).GetInner() {
		all = append(all, core.Rule{Name: name, RuleFunc: rule})
	}
	sort.Sort(core.NameSorter(all))
	return all
}

func rulesByName(in *inputs, cfg Config, suggesting bool) *rules.Rules {
	r := rules.NewDefaultRules()
	r.AddRule("NumbersHaveAValue", in.numbersHaveAValue)
	r.AddRule("LiteralsHaveAValue", in.literalsHaveAValue)
	if !cfg.Introspection {
		r.AddRule("NoIntrospection", noIntrospection)
	}
	if suggesting {
		r.ReplaceRule(rules.FieldsOnCorrectTypeRule.Name, fieldsOnCorrectType)
		return r
	}
	for _, quiet := range []core.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		r.RemoveRule(strings.TrimSuffix(quiet.Name, "WithoutSuggestions"))
		r.AddRule(quiet.Name, quiet.RuleFunc)
	}
	return r
}

func noIntrospection(observers *core.Events, addError core.AddErrFunc) {
	observers.OnField(func(_ *core.Walker, field *ast.Field) {
		if field.Name == "__schema" || field.Name == "__type" {
			addError(core.Message("introspection is switched off on this server"), core.At(field.Position))
		}
	})
}

// get returns the document of a query, or what is wrong with it. known is what is kept of the query under another text;
// nil where that is not known.
func (d *documents) get(query string, known *keptQuery) (*document, gqlerror.List) {
	if known != nil && known.query != query {
		known = nil
	}
	if known != nil {
		if e := known.entry.Load(); e != nil {
			if doc := e.ask(); doc != nil {
				return doc, nil
			}
		}
	}
	if e := d.cache.get(query); e != nil {
		if known != nil {
			known.entry.Store(e)
		}
		if doc := e.ask(); doc != nil {
			return doc, nil
		}
	}
	return d.readAndKeep(query)
}

// readAndKeep reads a document. One that is kept has its text in memory of its own: the query may be a part of the
// request, of which the rest would stay with it.
func (d *documents) readAndKeep(query string) (*document, gqlerror.List) {
	query = strings.Clone(query)
	read, errs := d.read(query)
	if errs != nil {
		return nil, errs
	}
	doc := &document{QueryDocument: read}
	for range read.Operations {
		doc.memos = append(doc.memos, make([]atomic.Value, d.memos))
	}
	d.cache.add(query, doc, docsize.Of(read))
	return doc, nil
}

// suggestBytes is the longest document whose errors suggest names. To find them
// takes time in the length of the wrong names and of the right ones: half a second for a megabyte.
const suggestBytes = 16 << 10

// read parses and checks a document.
func (d *documents) read(query string) (doc *ast.QueryDocument, errs gqlerror.List) {
	if err := d.checkTokens(query); err != nil {
		return nil, gqlerror.List{err}
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, d.tokens)
	if err != nil {
		return nil, gqlerror.List{parseError(unreadable.Cause(query, err))}
	}
	if err := checkEscapes(query); err != nil {
		return nil, gqlerror.List{err}
	}
	if len(doc.Operations) == 0 {
		return nil, gqlerror.List{coded(graphqlerr.ValidationFailed, "the document has no operation")}
	}
	m := measure{doc: doc, limits: d.limits}
	if err := m.check(); err != nil {
		return nil, gqlerror.List{err}
	}
	by := d.rules
	if len(query) > suggestBytes {
		by = d.quiet
	}
	if errs := validate(d.schema, doc, by); len(errs) > 0 {
		return nil, errs
	}
	for _, op := range doc.Operations {
		if err := d.checkIntrospection(op); err != nil {
			return nil, gqlerror.List{err}
		}
	}
	return doc, nil
}

// checkIntrospection returns what is wrong with what an operation asks about the schema.
func (d *documents) checkIntrospection(op *ast.OperationDefinition) *gqlerror.Error {
	const what = "the operation asks for up to %d values of the schema"
	switch n := d.introspection.Asked(op); {
	case n > d.introspection.Most:
		return exceeded(what, n, d.introspection.Most)
	case n > introspection.Few && introspection.AsksOthers(op):
		return exceeded(what+" beside other queries, which belong in another operation", n, introspection.Few)
	}
	return nil
}

func parseError(err error) *gqlerror.Error {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	code := graphqlerr.ParseFailed
	if strings.HasPrefix(gql.Message, "exceeded token limit") || strings.HasPrefix(gql.Message,
		"exceeded maximum nesting") {
		code, gql.Message = graphqlerr.LimitExceeded, "the document is too large: "+gql.Message
	}
	return mistake(gql, code)
}

// mistake gives an error of the document its code. The message may quote the document, which may be long.
func mistake(err *gqlerror.Error, code graphqlerr.Code) *gqlerror.Error {
	err.Message = shortened(err.Message, longestMistake)
	err.Extensions = map[string]any{"code": string(code)}
	return err
}

type documentKey struct{}

// fromContext is the executor's query cache: the document that was looked up, and checked, before it was called.
type fromContext struct{}

func (fromContext) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	doc, ok := ctx.Value(documentKey{}).(*ast.QueryDocument)
	return doc, ok
}

func (fromContext) Add(context.Context, string, *ast.QueryDocument) {}
