package plan

import (
	"sync"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/internal/docsize"
)

// Cache keeps the plans of operations under the operation itself: the cache of documents hands out the same one for
// the same text. It is two generations of a map: when the young one is full it becomes the old one, and what is not
// asked for again before the next turn is forgotten.
type Cache struct {
	limit int // bytes, about, of both generations with the documents they hold

	mu         sync.RWMutex
	size       int // of the young generation
	young, old map[*ast.OperationDefinition]*Variants
}

// Variants are the plans of one operation, one per set of values that the variables of its conditions have.
type Variants struct {
	Conditions []string // names of the variables in @skip and @include
	size       int      // under the lock of the cache
	kept       bool     // likewise: it counts for the memory of the cache

	mu    sync.RWMutex
	plans map[uint64]*Plan
}

// About how much memory parts of documents and of plans take, in bytes.
const (
	selectionBytes = 600
	memberBytes    = 250
)

// MaxConditions bounds the variables that choose between plans of one operation; with more of them gqlgen's executor
// answers. MaxVariants bounds the plans that are kept of one operation.
const (
	MaxConditions = 64
	MaxVariants   = 64
)

// NewCache makes an empty cache. With the documents of the plans it takes about limit bytes of memory.
func NewCache(limit int) *Cache {
	return &Cache{limit: limit, young: map[*ast.OperationDefinition]*Variants{}}
}

// Get returns the plans of an operation, empty where it is new.
func (c *Cache) Get(op *ast.OperationDefinition, doc *ast.QueryDocument) *Variants {
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
		p = newPlanned(op, doc)
	}
	if p.size <= c.limit/8 { // what takes much of the memory alone is not worth what it drives out
		c.young[op], p.kept = p, true
		c.grow(p.size)
	}
	return p
}

// grow counts more memory into the young generation. The lock is held.
func (c *Cache) grow(bytes int) {
	c.size += bytes
	if c.size > c.limit/2 {
		c.old, c.young, c.size = c.young, map[*ast.OperationDefinition]*Variants{}, 0
	}
}

// grew counts the memory of a plan that an operation has got.
func (c *Cache) grew(p *Variants, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.size += bytes; p.kept {
		c.grow(bytes)
	}
}

func newPlanned(op *ast.OperationDefinition, doc *ast.QueryDocument) *Variants {
	v := visit{doc: doc, spread: map[string]bool{}, seen: map[string]bool{}}
	v.set(op.SelectionSet)
	size := docsize.Of(doc) + v.selections*selectionBytes
	return &Variants{Conditions: v.conditions, size: size, plans: map[uint64]*Plan{}}
}

// Undecided returns a variable of the conditions that has no boolean value, "" where there is none.
func (p *Variants) Undecided(vars map[string]any) string {
	for _, name := range p.Conditions {
		if _, ok := vars[name].(bool); !ok {
			return name
		}
	}
	return ""
}

// Variant numbers the values of the conditions.
func (p *Variants) Variant(vars map[string]any) (v uint64) {
	for i, name := range p.Conditions {
		if on, _ := vars[name].(bool); on {
			v |= 1 << i
		}
	}
	return v
}

// Plan returns the plan of a variant, making it where there is none yet. That an operation has no plan is remembered
// too.
func (c *Cache) Plan(p *Variants, variant uint64, compile func() (p *Plan, members int)) *Plan {
	p.mu.RLock()
	known, ok := p.plans[variant]
	p.mu.RUnlock()
	if ok {
		return known
	}
	compiled, members := compile()
	if p.keep(variant, compiled) {
		c.grew(p, members*memberBytes)
	}
	return compiled
}

func (p *Variants) keep(variant uint64, compiled *Plan) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plans) >= MaxVariants {
		return false
	}
	p.plans[variant] = compiled
	return true
}

// visit walks over the selections of an operation, those of each fragment once.
type visit struct {
	doc          *ast.QueryDocument
	spread, seen map[string]bool
	conditions   []string
	selections   int
}

func (v *visit) set(set ast.SelectionSet) {
	for _, sel := range set {
		v.selections++
		switch sel := sel.(type) {
		case *ast.Field:
			v.directives(sel.Directives)
			v.set(sel.SelectionSet)
		case *ast.InlineFragment:
			v.directives(sel.Directives)
			v.set(sel.SelectionSet)
		case *ast.FragmentSpread:
			v.directives(sel.Directives)
			if fragment := v.doc.Fragments.ForName(sel.Name); fragment != nil && !v.spread[sel.Name] {
				v.spread[sel.Name] = true
				v.set(fragment.SelectionSet)
			}
		}
	}
}

// directives notes the variables that conditions use, each once.
func (v *visit) directives(ds ast.DirectiveList) {
	for _, d := range ds {
		if d.Name != "skip" && d.Name != "include" {
			continue
		}
		arg := d.Arguments.ForName("if")
		if arg != nil && arg.Value.Kind == ast.Variable && !v.seen[arg.Value.Raw] {
			v.seen[arg.Value.Raw] = true
			v.conditions = append(v.conditions, arg.Value.Raw)
		}
	}
}
