package dynamostore

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Plan is what makes the tables that are there those that are needed.
type Plan struct {
	Steps []Step
	Wrong []error  // what no step can change, with what to do, or a driver.ErrRemovalNotAllowed
	Kept  []string // tables of former generations that stay, since removal is not allowed
}

// Act is what a Step does.
type Act uint8

// The acts.
const (
	Await       Act = iota // until what DynamoDB is doing is done
	CreateTable            // with its indexes
	EnableTTL
	AddIndex
	RemoveIndex
	RemoveTable // with its rows
)

// Step is one request, or a wait. Those of one table follow each other, each when the one before is done.
type Step struct {
	Act    Act
	Table  string
	Index  string // of AddIndex and RemoveIndex
	Text   string // what it does, and what it costs
	Needed bool   // rows cannot be read and written before

	layout layout.Layout
	index  layout.Index
	have   *live
}

func (s Step) String() string { return s.Text }

// ready fails where the tables cannot be used as they are.
func (p *Plan) ready() error {
	all := slices.Clone(p.Wrong)
	for _, step := range p.Steps {
		if step.Needed {
			all = append(all, fmt.Errorf("to do: %s", step))
		}
	}
	if all == nil {
		return nil
	}
	return fmt.Errorf("dynamostore: %w: they are not as the models need them:\n%w", driver.ErrTablesNotReady,
		errors.Join(all...))
}

// makePlan compares tables as they are to be with those that are there. What other programs have added to them is left
// alone.
func makePlan(want, former []layout.Layout, have map[string]*live, allowDelete bool) Plan {
	p := &planner{allowDelete: allowDelete}
	for _, l := range want {
		p.layout, p.have = l, have[l.Table]
		p.table()
	}
	for _, l := range former {
		if p.layout, p.have = l, have[l.Table]; p.have != nil {
			p.remove()
		}
	}
	return p.Plan
}

// planner plans one table after another.
type planner struct {
	Plan
	layout      layout.Layout
	have        *live
	allowDelete bool
}

func (p *planner) step(act Act, needed bool, text string, args ...any) {
	p.Steps = append(p.Steps, Step{
		Act: act, Table: p.layout.Table, Text: fmt.Sprintf(text, args...), Needed: needed, layout: p.layout, have: p.have,
	})
}

func (p *planner) indexStep(act Act, x layout.Index, text string, args ...any) {
	p.step(act, true, text, args...)
	last := &p.Steps[len(p.Steps)-1]
	last.Index, last.index = x.Name, x
}

func (p *planner) wrong(text string, args ...any) {
	p.Wrong = append(p.Wrong, fmt.Errorf(text, args...))
}

func (p *planner) table() {
	name := p.layout.Table
	if p.have == nil {
		p.create()
		return
	}
	switch p.have.TableStatus {
	case types.TableStatusActive:
	case types.TableStatusCreating:
		p.step(Await, true, "wait until table %s is made", name)
	case types.TableStatusUpdating:
		p.step(Await, false, "wait until the change of table %s that is under way is done", name)
	case types.TableStatusDeleting:
		p.step(Await, true, "wait until table %s is removed, which somebody has asked for", name)
		p.have = nil
		p.create()
		return
	default:
		p.wrong("table %s is %s, and cannot be used: see to that with AWS", name, p.have.TableStatus)
		return
	}
	if !sameKey(p.layout.PK, p.layout.SK, p.have.KeySchema, p.have.AttributeDefinitions) {
		p.Wrong = append(p.Wrong, wrongKey(&p.layout, &p.have.TableDescription))
		return
	}
	p.ofOthers()
	var missing []layout.Index
	before := len(p.Steps)
	for _, x := range p.layout.Indexes {
		if p.tableIndex(x) {
			missing = append(missing, x)
		}
	}
	p.addIndexes(missing) // when all are removed whose key attributes are of another type
	p.awaitChanges(before)
	p.ttl()
}

// ofOthers looks at what other programs have added to the table: DynamoDB refuses an item whose attribute is not of the
// type that any index has it in.
func (p *planner) ofOthers() {
	look := func(name string, key []types.KeySchemaElement) {
		for _, k := range key {
			attr := *k.AttributeName
			is, written := typeOf(attr, p.have.AttributeDefinitions), p.layout.Written[attr]
			if written != "" && written != string(is) {
				p.wrong("index %s of table %s, which is of no model, has the key attribute %s of type %s, and rows have it "+
					"of type %s: DynamoDB would refuse them; remove the index, or choose another prefix",
					name, p.layout.Table, attr, is, written)
			}
		}
	}
	for i := range p.have.GlobalSecondaryIndexes {
		g := &p.have.GlobalSecondaryIndexes[i]
		if !p.owns(*g.IndexName) && g.IndexStatus != types.IndexStatusDeleting {
			look(*g.IndexName, g.KeySchema)
		}
	}
	for i := range p.have.LocalSecondaryIndexes {
		local := &p.have.LocalSecondaryIndexes[i]
		if !p.owns(*local.IndexName) {
			look(*local.IndexName, local.KeySchema)
		}
	}
}

func (p *planner) create() {
	if p.tooMany(0, len(p.layout.Indexes)) {
		return
	}
	p.layout.Indexes = slices.Clone(p.layout.Indexes)
	widened := widenedText(widen(p.layout.Indexes, 0))
	indexes := "without indexes"
	if len(p.layout.Indexes) > 0 {
		indexes = "with its indexes"
		for i, x := range p.layout.Indexes {
			indexes += strings.Repeat(",", min(i, 1)) + " " + x.Name + " " + keyText(x.PK, x.SK)
		}
	}
	p.step(CreateTable, true, "create table %s %s, %s; billed on demand, protected from deletion%s",
		p.layout.Table, keyText(p.layout.PK, p.layout.SK), indexes, widened)
	p.enableTTL()
}

func (p *planner) ttl() {
	name, on := p.layout.Table, aws.ToString(p.have.ttl.AttributeName)
	switch p.have.ttl.TimeToLiveStatus {
	case types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling:
		if on != layout.AttrTTL {
			p.wrong("items of table %s expire by the attribute %s, and must by %s: switch that off with AWS, and "+
				"come back when it is off", name, on, layout.AttrTTL)
		}
	case types.TimeToLiveStatusDisabling:
		p.wrong("the expiry of items of table %s is being switched off: come back in an hour, when that is done", name)
	default:
		p.enableTTL()
	}
}

func (p *planner) enableTTL() {
	p.step(EnableTTL, true, "let items of table %s expire by %s, at no charge", p.layout.Table, layout.AttrTTL)
}

// remove plans the end of a former generation.
func (p *planner) remove() {
	name, items := p.layout.Table, aws.ToInt64(p.have.ItemCount)
	switch {
	case p.have.TableStatus == types.TableStatusDeleting:
		p.step(Await, false, "wait until table %s is removed", name)
	case p.allowDelete:
		p.step(RemoveTable, false, "remove table %s with its items (%d by %s): it is of a former generation", name, items,
			lastCount)
	default:
		p.Kept = append(p.Kept, fmt.Sprintf("table %s with its items (%d by %s) is of a former generation", name, items,
			lastCount))
	}
}

// wrongKey says that a table has another key than rows of the layout need.
func wrongKey(l *layout.Layout, is *types.TableDescription) error {
	return fmt.Errorf("table %s has the key %s, and needs %s, which cannot be changed: choose another prefix, or remove "+
		"the table", l.Table, haveKeyText(is.KeySchema, is.AttributeDefinitions), keyText(l.PK, l.SK))
}

// sameKey reports whether the key is of these attributes, all of type S.
func sameKey(pk, sk string, key []types.KeySchemaElement, attrs []types.AttributeDefinition) bool {
	want := keySchema(pk, sk)
	return slices.EqualFunc(want, key, func(w, k types.KeySchemaElement) bool {
		return *w.AttributeName == *k.AttributeName && w.KeyType == k.KeyType && typeOf(*k.AttributeName, attrs) ==
			types.ScalarAttributeTypeS
	})
}

func typeOf(attr string, attrs []types.AttributeDefinition) types.ScalarAttributeType {
	for _, a := range attrs {
		if *a.AttributeName == attr {
			return a.AttributeType
		}
	}
	return ""
}

func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
}
