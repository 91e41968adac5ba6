package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// version identifies what the stored rows of a model depend on: the layout of rows, keys and indexes, what is folded
// into them, and the version that the schema gives. Rows of another version are folded anew, so names of queries,
// rules and descriptions are no part of it.
func version(r *schema.ReadModel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "form 1\nversion %d\nprojector %q %t %q %q %q\n", r.Version, r.Projector, r.StateView, r.Stream, r.Events, r.Tags)
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "field %q %s list=%t nullable=%t\n", f.Name, f.Scalar, f.List, f.Nullable)
	}
	fmt.Fprintf(&b, "key %s %s\n", halfText(r.PK), halfText(r.SK))
	for _, x := range r.Indexes {
		fmt.Fprintf(&b, "index %q %s %s %v\n", x.Name, halfText(x.PK), halfText(x.SK), projected(r, x))
	}
	fmt.Fprintf(&b, "times %d %d %d\n", ordinalOf(r.TTL), ordinalOf(r.CreatedAt), ordinalOf(r.UpdatedAt))
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:6])
}

func halfText(h schema.Half) string {
	names := make([]string, len(h.Fields))
	for i, f := range h.Fields {
		names[i] = f.Name
	}
	if len(names) < 2 {
		return fmt.Sprintf("%q", names)
	}
	return fmt.Sprintf("%q%q", names, h.Sep)
}
