package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/server/internal/admin"
)

type rebuildRollback struct{ rebuildNames }

// Run has the former rows serve again, and says of which rows the former owners own them again.
func (c *rebuildRollback) Run(ctx context.Context, p *Program) error {
	err := decideRebuild(ctx, p, &c.Server, c.Name, "/rollback", "the former rows serve again; if another version of "+
		"the program folded them, start that, so that they catch up")
	if owned := ownedAmong(p, c.Name); err == nil && len(owned) > 0 {
		fmt.Fprintf(p.Stdout, "until they do, rows of %s have the owners that they had when they ceased to serve: whoever "+
			"has lost access by them since has it again\n", strings.Join(owned, ", "))
	}
	return err
}

// ownedAmong are the models whose rows say who may read, of those that the names mean or that share a table with them.
func ownedAmong(p *Program, names []string) (owned []string) {
	meant, err := admin.ProjectionsNamed(p.Projections, names)
	if err != nil { // the server knows other models than this program
		return nil
	}
	tables := map[string]bool{}
	for i := range p.Projections {
		if one := &p.Projections[i]; meant[one.Name] {
			for _, m := range one.Models() {
				tables[m.Table] = true
			}
		}
	}
	for _, m := range p.Owned {
		if tables[m.Table] {
			owned = append(owned, m.Name)
		}
	}
	slices.Sort(owned)
	return owned
}
