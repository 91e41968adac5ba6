package dynamostore

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// tableIndex plans one index of a table that is there, and reports whether it is then to be added.
func (p *planner) tableIndex(x layout.Index) (missing bool) {
	if p.localIndex(x) {
		return false
	}
	at := slices.IndexFunc(p.have.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool {
		return *g.IndexName == x.Name
	})
	if at < 0 {
		return true
	}
	g := &p.have.GlobalSecondaryIndexes[at]
	if g.IndexStatus == types.IndexStatusDeleting {
		p.step(Await, true, "wait until the former index %s of table %s is removed", x.Name, p.layout.Table)
		return true
	}
	if why := p.unfit(x, g.KeySchema, g.Projection); why != "" {
		if !p.allowDelete {
			p.wrong("index %s of table %s %s: it has to be removed and added again, and cannot be read meanwhile; %w",
				x.Name, p.layout.Table, why, driver.ErrRemovalNotAllowed)
			return false
		}
		p.indexStep(RemoveIndex, x, "remove index %s of table %s: it %s", x.Name, p.layout.Table, why)
		return true
	}
	if g.IndexStatus == types.IndexStatusCreating {
		p.step(Await, true, "wait until index %s of table %s is filled", x.Name, p.layout.Table)
	}
	return false
}

// localIndex takes a local secondary index for the one that is needed, and reports whether there is one of its name.
// Somebody else has made it: those that we make are global, because a local one bounds the size of a partition.
func (p *planner) localIndex(x layout.Index) bool {
	for i := range p.have.LocalSecondaryIndexes {
		local := &p.have.LocalSecondaryIndexes[i]
		if *local.IndexName != x.Name {
			continue
		}
		if why := p.unfit(x, local.KeySchema, local.Projection); why != "" {
			p.wrong("local secondary index %s of table %s %s, and DynamoDB cannot change it: give the index of the "+
				"model another name, or recreate the table", x.Name, p.layout.Table, why)
		}
		return true
	}
	return false
}

// unfit says how the index that is there differs from the one that is needed, "" where it will do.
func (p *planner) unfit(x layout.Index, key []types.KeySchemaElement, projection *types.Projection) string {
	if !sameKey(x.PK, x.SK, key, p.have.AttributeDefinitions) {
		return fmt.Sprintf("has the key %s, and needs %s", haveKeyText(key, p.have.AttributeDefinitions), keyText(x.PK, x.SK))
	}
	if projection == nil || projection.ProjectionType == types.ProjectionTypeAll {
		return ""
	}
	if x.Projection == types.ProjectionTypeAll {
		return "holds some attributes, and needs all"
	}
	for _, attr := range x.NonKey {
		if !slices.Contains(projection.NonKeyAttributes, attr) {
			return "does not hold the attribute " + attr
		}
	}
	return ""
}

// addIndexes plans those that are missing.
func (p *planner) addIndexes(missing []layout.Index) {
	have, named := p.staying()
	if p.tooMany(have, len(missing)) {
		return
	}
	all := widen(missing, named)
	for _, x := range missing {
		p.addIndex(x, slices.Contains(all, x.Name))
	}
}

func (p *planner) addIndex(x layout.Index, widened bool) {
	why := ""
	if widened {
		why = widenedText([]string{x.Name})
	}
	items, size := aws.ToInt64(p.have.ItemCount), aws.ToInt64(p.have.TableSizeBytes)
	p.indexStep(AddIndex, x, "add index %s %s to table %s: DynamoDB reads its items at no charge, and writes those that "+
		"belong into the index, once; that is up to %d write units for the %d items (%s) of %s%s",
		x.Name, keyText(x.PK, x.SK), p.layout.Table, items+size/1024, items, sizeText(size), lastCount, why)
}

// lastCount says how old the numbers of a table are that DynamoDB tells.
const lastCount = "its last count, up to six hours ago"

// awaitChanges has changes of indexes of the table wait for those that are under way: DynamoDB makes one at a time. The
// steps from the number on are those of its indexes.
func (p *planner) awaitChanges(from int) {
	changes := func(s Step) bool { return s.Act == AddIndex || s.Act == RemoveIndex }
	if !slices.ContainsFunc(p.Steps[from:], changes) {
		return
	}
	for i := range p.have.GlobalSecondaryIndexes {
		g := &p.have.GlobalSecondaryIndexes[i]
		underWay := g.IndexStatus == types.IndexStatusCreating || g.IndexStatus == types.IndexStatusDeleting
		if underWay && !p.owns(*g.IndexName) {
			p.step(Await, false, "wait until the change of index %s of table %s, which is of no model, is done", *g.IndexName,
				p.layout.Table)
		}
	}
	slices.SortStableFunc(p.Steps[from:], func(a, b Step) int { return awaitFirst(a) - awaitFirst(b) })
}

func awaitFirst(s Step) int {
	if s.Act == Await {
		return 0
	}
	return 1
}

// owns reports whether an index is one that the models need.
func (p *planner) owns(index string) bool {
	return slices.ContainsFunc(p.layout.Indexes, func(x layout.Index) bool { return x.Name == index })
}
