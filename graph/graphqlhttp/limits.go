package graphqlhttp

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// limits are what one operation may have at most, fragments counted wherever they are spread.
type limits struct {
	depth, aliases, roots, fields int
}

// The limits of the document as a whole keep validation fast. They are far above what an honest one needs.
const (
	// documentShare is how many times the fields of an operation all operations and fragments may have together.
	documentShare = 10
	// maxPairs is how many pairs of fields may have one response key in one place; validation compares each pair.
	maxPairs = 20_000
	// maxVariables is how many variables all operations may declare together.
	maxVariables = 500
)

// cost is what a selection amounts to with its fragments: fields counts spreads of fragments too. Counts stop growing
// at a bound that is above every limit.
type cost struct {
	fields, aliases, depth int
}

const saturated = 1 << 30

func (c *cost) add(other cost) {
	c.fields = min(c.fields+other.fields, saturated)
	c.aliases = min(c.aliases+other.aliases, saturated)
	c.depth = max(c.depth, other.depth)
}

// measure takes the measure of a document that is parsed but not validated.
type measure struct {
	doc    *ast.QueryDocument
	limits limits

	fragments map[string]*ast.FragmentDefinition
	costs     map[string]*cost // of fragments; nil while it is being counted
	cyclic    string           // a fragment that spreads itself
	pairs     int
}

// check returns what the document has too much of.
func (m *measure) check() *gqlerror.Error {
	m.fragments = make(map[string]*ast.FragmentDefinition, len(m.doc.Fragments))
	m.costs = make(map[string]*cost, len(m.doc.Fragments))
	for _, f := range m.doc.Fragments {
		if m.fragments[f.Name] != nil { // what is measured of one would be said of the other
			return coded(graphqlerr.ValidationFailed, "there are several fragments with the name %q", f.Name)
		}
		m.fragments[f.Name] = f
	}
	total, variables := 0, 0
	for _, f := range m.doc.Fragments {
		total = min(total+m.fragment(f.Name).fields, saturated)
	}
	for _, op := range m.doc.Operations {
		c := m.selection(op.SelectionSet)
		if err := m.checkOperation(op, c); err != nil {
			return err
		}
		total = min(total+c.fields, saturated)
		variables += len(op.VariableDefinitions)
	}
	switch {
	case m.cyclic != "":
		return coded(graphqlerr.ValidationFailed, "fragment %q spreads itself", m.cyclic)
	case total > documentShare*m.limits.fields:
		return exceeded("operations and fragments have %d fields and fragments together", total,
			documentShare*m.limits.fields)
	case variables > maxVariables:
		return exceeded("the document declares %d variables", variables, maxVariables)
	}
	return m.checkPairs()
}

func (m *measure) checkOperation(op *ast.OperationDefinition, c cost) *gqlerror.Error {
	switch roots := m.roots(op.SelectionSet); {
	case roots > m.limits.roots:
		return exceeded("the operation asks %d queries", roots, m.limits.roots)
	case c.depth > m.limits.depth:
		return exceeded("fields nest %d deep", c.depth, m.limits.depth)
	case c.fields > m.limits.fields:
		return exceeded("the operation has %d fields and fragments, spread ones counted again", c.fields, m.limits.fields)
	case c.aliases > m.limits.aliases:
		return exceeded("the operation has %d aliases, those of spread fragments counted again", c.aliases, m.limits.aliases)
	}
	return nil
}

func exceeded(what string, n, limit int) *gqlerror.Error {
	return coded(graphqlerr.LimitExceeded, what+"; at most %d are allowed", n, limit)
}

// selection returns what a selection set amounts to.
func (m *measure) selection(set ast.SelectionSet) (c cost) {
	for _, s := range set {
		c.fields = min(c.fields+1, saturated)
		switch s := s.(type) {
		case *ast.Field:
			inner := m.selection(s.SelectionSet)
			inner.depth++
			if s.Alias != s.Name {
				inner.aliases++
			}
			c.add(inner)
		case *ast.InlineFragment:
			c.add(m.selection(s.SelectionSet))
		case *ast.FragmentSpread:
			c.add(m.fragment(s.Name))
		}
	}
	return c
}

// fragment returns what a fragment amounts to; each is counted once.
func (m *measure) fragment(name string) cost {
	if c, ok := m.costs[name]; ok {
		if c == nil {
			m.cyclic = name
			return cost{}
		}
		return *c
	}
	f, ok := m.fragments[name]
	if !ok {
		return cost{} // validation will say so
	}
	m.costs[name] = nil
	c := m.selection(f.SelectionSet)
	m.costs[name] = &c
	return c
}

// roots counts the fields of the operation's own selection. The document has no cycles beyond what is counted already.
func (m *measure) roots(set ast.SelectionSet) (n int) {
	visited := map[string]bool{}
	var count func(set ast.SelectionSet)
	count = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				n++
			case *ast.InlineFragment:
				count(s.SelectionSet)
			case *ast.FragmentSpread:
				if f, ok := m.fragments[s.Name]; ok && !visited[s.Name] {
					visited[s.Name] = true
					count(f.SelectionSet)
				}
			}
		}
	}
	count(set)
	return n
}

// checkPairs counts the pairs of fields that validation will compare. It takes time in the number of fields, which is
// within its limit by now, and ends because there are no cycles.
func (m *measure) checkPairs() *gqlerror.Error {
	for _, op := range m.doc.Operations {
		m.countPairs(op.SelectionSet)
	}
	for _, f := range m.doc.Fragments {
		m.countPairs(f.SelectionSet)
	}
	if m.pairs > maxPairs {
		return exceeded("fields of one name are selected again in the same place in %d pairs", m.pairs, maxPairs)
	}
	return nil
}

// countPairs counts the pairs in selection sets that are merged into one place of the answer.
func (m *measure) countPairs(sets ...ast.SelectionSet) {
	if m.pairs > maxPairs {
		return
	}
	places := map[string][]ast.SelectionSet{}
	var collect func(set ast.SelectionSet)
	collect = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				m.pairs += len(places[s.Alias])
				places[s.Alias] = append(places[s.Alias], s.SelectionSet)
			case *ast.InlineFragment:
				collect(s.SelectionSet)
			case *ast.FragmentSpread:
				if f, ok := m.fragments[s.Name]; ok {
					collect(f.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		collect(set)
	}
	for _, sets := range places {
		m.countPairs(sets...)
	}
}

// What follows keeps the cost of one token bounded: validation copies names into its messages, and answers repeat
// aliases.
const (
	// maxName is how many bytes a name in a document may have: of an operation, variable, fragment, field, type, or value.
	maxName = 256
	// maxNumber is how many bytes a number may have. The longest Decimal has 1,998 digits.
	maxNumber = 2048
)

// checkTokens refuses a document in which a name or number is too long, or values nest too deep, before it is parsed.
// What is no GraphQL, or has too many tokens, is for the parser to say.
func (d *documents) checkTokens(query string) *gqlerror.Error {
	var (
		t      = lexer.New(&ast.Source{Input: query})
		parens int // that are open: directives among the variables of an operation have their own
		nested int
	)
	for range d.tokens {
		token, err := t.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return nil
		}
		switch token.Kind {
		case lexer.Name:
			if len(token.Value) > maxName {
				return tooLong("name", token, maxName)
			}
		case lexer.Int, lexer.Float:
			if len(token.Value) > maxNumber {
				return tooLong("number", token, maxNumber)
			}
		case lexer.ParenL:
			if parens++; parens == 1 {
				nested = 0
			}
		case lexer.ParenR:
			parens--
		case lexer.BracketL, lexer.BraceL:
			if nested++; parens > 0 && nested > d.limits.depth {
				return exceeded("values nest %d deep", nested, d.limits.depth)
			}
		case lexer.BracketR, lexer.BraceR:
			nested--
		}
	}
	return nil
}

func tooLong(what string, token lexer.Token, limit int) *gqlerror.Error {
	err := coded(graphqlerr.LimitExceeded, "a %s has %d bytes; at most %d are allowed", what, len(token.Value), limit)
	err.Locations = []gqlerror.Location{{Line: token.Pos.Line, Column: token.Pos.Column}}
	return err
}
