package write

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
)

// kindConflicts fails where one of the rows that changes are about is of another kind. It asks for none that was read:
// at its revision it is of the kind that it was.
func (a *Applier) kindConflicts(ctx context.Context, list []*change) error {
	asked := map[*driver.Table]*driver.Get{}
	for _, c := range list {
		if c.shape.Kind == "" || c.read && c.revision > 0 {
			continue
		}
		t := c.write.Table
		if asked[t] == nil {
			asked[t] = &driver.Get{Table: t, Consistent: true}
		}
		asked[t].Keys = append(asked[t].Keys, c.write.Row.Key)
	}
	for t, g := range asked {
		kinds := make([]string, len(g.Keys))
		if _, err := a.reader.GetKinds(ctx, g, kinds, nil); err != nil {
			return err
		}
		for i, kind := range kinds {
			if kind != "" {
				return fmt.Errorf("dynamostore: write row %s of %s: %w", driver.PrintableKey(g.Keys[i]), t.Name,
					strange(kind, t.Kind))
			}
		}
	}
	return nil
}
