package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// compareIdentifiers compares under which keys the global identifiers of rows are. The API does not show it.
func compareIdentifiers(was, now *schema.Model) (all []Change) {
	if was.Relay == nil || now.Relay == nil {
		return nil
	}
	for _, r := range was.ReadModels {
		to := modelNamed(now, r.Name)
		if to == nil || r.NodeKey == nil || to.NodeKey == nil {
			continue
		}
		before, after := schema.FieldNames(r.NodeKey), schema.FieldNames(to.NodeKey)
		if !slices.Equal(before, after) {
			all = append(all, Change{Breaking, r.Name + "." + now.Relay.ID, fmt.Sprintf("names rows by %s, and before by %s",
				strings.Join(after, ", "), strings.Join(before, ", ")), "clients that have kept one"})
		}
	}
	return all
}
