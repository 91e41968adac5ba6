package diff

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// compareCasing compares in which letter case texts are held against those of a key: whether "BOB" finds "bob".
func compareCasing(was, now *place) (all []Change) {
	beforePK, beforeSK := was.origins[0].halves()
	afterPK, afterSK := now.origins[0].halves()
	for _, half := range [...]struct{ was, now schema.Half }{{beforePK, afterPK}, {beforeSK, afterSK}} {
		before, after := half.was.Layout.Casing, half.now.Layout.Casing
		names := texts(half.now)
		if before == after || len(names) == 0 || len(texts(half.was)) == 0 {
			continue
		}
		what := fmt.Sprintf("finds and orders rows by %s %s, and before %s", strings.Join(names, ", "), inCase[after],
			inCase[before])
		if after == keys.CasingNone {
			all = append(all, Change{Breaking, was.at, what, "operations that give it in another case than the rows have it"})
		} else {
			all = append(all, Change{Noticeable, was.at, what, "operations that select it"})
		}
	}
	return all
}

// inCase says in which letter case texts are compared.
var inCase = map[keys.Casing]string{
	keys.CasingNone: "in the case that they are written in", keys.CasingLower: "in lower case",
	keys.CasingUpper: "in upper case",
}

// texts are the names of the fields of a half that are text.
func texts(h schema.Half) (names []string) {
	for i, s := range h.Layout.Segments {
		if s.Kind == keys.KindString {
			names = append(names, h.Fields[i].Name)
		}
	}
	return names
}
