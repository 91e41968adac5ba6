package dynamostore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// What AWS allows one table. The attributes are those that indexes name to hold beside keys: of all indexes together,
// one that several of them hold counted for each.
const (
	mostAttributes = 100
	mostIndexes    = 20 // global ones, unless AWS has raised it
)

// widen has the largest of the indexes that are to be made hold all attributes, which none needs to name, until those
// that they name are as few as may be, beside those that the indexes of the table name. It returns the names of these
// indexes. What is there stays as it is, even where that names more: it holds what is needed.
func widen(toMake []layout.Index, named int) (all []string) {
	for _, x := range toMake {
		named += len(x.NonKey)
	}
	for named > mostAttributes && len(toMake) > 0 {
		largest := 0
		for i, x := range toMake {
			if n := len(toMake[largest].NonKey); len(x.NonKey) > n || len(x.NonKey) == n && x.Name < toMake[largest].Name {
				largest = i
			}
		}
		x := &toMake[largest]
		if len(x.NonKey) == 0 {
			return all
		}
		named -= len(x.NonKey)
		x.Projection, x.NonKey = types.ProjectionTypeAll, nil
		all = append(all, x.Name)
	}
	slices.Sort(all)
	return all
}

// widenedText tells of indexes that hold all attributes for that reason alone.
func widenedText(all []string) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return "; index " + all[0] + " holds all attributes, because the indexes of a table may name " +
			fmt.Sprint(mostAttributes) + " together"
	}
	return "; indexes " + strings.Join(all, ", ") + " hold all attributes, because the indexes of a table may name " +
		fmt.Sprint(mostAttributes) + " together"
}

// staying are the numbers of what a table has when indexes are made of it: global indexes that are not on their way
// out, and attributes that these and the local ones name.
func (p *planner) staying() (indexes, named int) {
	for i := range p.have.GlobalSecondaryIndexes {
		g := &p.have.GlobalSecondaryIndexes[i]
		removed := slices.ContainsFunc(p.Steps, func(s Step) bool {
			return s.Act == RemoveIndex && s.Table == p.layout.Table && s.Index == *g.IndexName
		})
		if g.IndexStatus != types.IndexStatusDeleting && !removed {
			indexes, named = indexes+1, named+namedBy(g.Projection)
		}
	}
	for i := range p.have.LocalSecondaryIndexes {
		named += namedBy(p.have.LocalSecondaryIndexes[i].Projection)
	}
	return indexes, named
}

func namedBy(p *types.Projection) int {
	if p == nil {
		return 0
	}
	return len(p.NonKeyAttributes)
}

// tooMany reports whether AWS would refuse an index of the table, and says what to do. A table that has more than AWS
// allows by itself has been allowed more.
func (p *planner) tooMany(have, toMake int) bool {
	if toMake == 0 || have > mostIndexes || have+toMake <= mostIndexes {
		return false
	}
	p.wrong("table %s would have %d indexes, and AWS allows %d: take some from the models, or give models tables of "+
		"their own; or have AWS raise the quota, and make the table and its indexes with AWS",
		p.layout.Table, have+toMake, mostIndexes)
	return true
}
