package graph

import (
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
)

// planCache keeps the plans of operations under the operation itself: gqlgen's query cache hands out the same one for
// the same text. It is two generations of a map: when the young one is full it becomes the old one, and what is not
// asked for again before the next turn is forgotten.
type planCache struct {
	max int

	mu         sync.RWMutex
	young, old map[*ast.OperationDefinition]*planned
}

// planned are the plans of one operation, one per set of values that the variables of its conditions have.
type planned struct {
	conditions []string // names of the variables in @skip and @include

	mu    sync.RWMutex
	plans map[uint64]*plan
}

// maxConditions bounds the variables that choose between plans of one operation; with more of them gqlgen's executor
// answers. maxVariants bounds the plans that are kept of one operation.
const (
	maxConditions = 64
	maxVariants   = 64
)

func newPlanCache(max int) *planCache {
	return &planCache{max: max, young: map[*ast.OperationDefinition]*planned{}}
}

// get returns the plans of an operation, empty where it is new.
func (c *planCache) get(op *ast.OperationDefinition, doc *ast.QueryDocument) *planned {
	c.mu.RLock()
	p, ok := c.young[op]
	c.mu.RUnlock()
	if ok {
		return p
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok = c.young[op]; ok {
		return p
	}
	if p, ok = c.old[op]; !ok {
		p = &planned{conditions: conditionVariables(op, doc), plans: map[uint64]*plan{}}
	}
	if len(c.young) >= (c.max+1)/2 {
		c.old, c.young = c.young, map[*ast.OperationDefinition]*planned{}
	}
	c.young[op] = p
	return p
}

// undecided returns a variable of the conditions that has no boolean value, "" where there is none.
func (p *planned) undecided(vars map[string]any) string {
	for _, name := range p.conditions {
		if _, ok := vars[name].(bool); !ok {
			return name
		}
	}
	return ""
}

// variant numbers the values of the conditions.
func (p *planned) variant(vars map[string]any) (v uint64) {
	for i, name := range p.conditions {
		if on, _ := vars[name].(bool); on {
			v |= 1 << i
		}
	}
	return v
}

// plan returns the plan of a variant, making it where there is none yet. A nil plan is remembered too.
func (p *planned) plan(variant uint64, compile func() *plan) *plan {
	p.mu.RLock()
	known, ok := p.plans[variant]
	p.mu.RUnlock()
	if ok {
		return known
	}
	made := compile()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plans) < maxVariants {
		p.plans[variant] = made
	}
	return made
}

// conditionVariables returns the variables that conditions of the operation use, each once.
func conditionVariables(op *ast.OperationDefinition, doc *ast.QueryDocument) []string {
	var names []string
	seen := map[string]bool{}
	add := func(ds ast.DirectiveList) {
		for _, d := range ds {
			if d.Name != "skip" && d.Name != "include" {
				continue
			}
			arg := d.Arguments.ForName("if")
			if arg != nil && arg.Value.Kind == ast.Variable && !seen[arg.Value.Raw] {
				seen[arg.Value.Raw] = true
				names = append(names, arg.Value.Raw)
			}
		}
	}
	spread := map[string]bool{}
	var walk func(set ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, sel := range set {
			switch sel := sel.(type) {
			case *ast.Field:
				add(sel.Directives)
				walk(sel.SelectionSet)
			case *ast.InlineFragment:
				add(sel.Directives)
				walk(sel.SelectionSet)
			case *ast.FragmentSpread:
				add(sel.Directives)
				if fragment := doc.Fragments.ForName(sel.Name); fragment != nil && !spread[sel.Name] {
					spread[sel.Name] = true
					walk(fragment.SelectionSet)
				}
			}
		}
	}
	walk(op.SelectionSet)
	return names
}
