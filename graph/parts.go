package graph

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
)

// wholeHalf composes a half of several fields of a table of its own: of its text, which is the first value, or of its parts,
// which are those after it. given is false where neither is there.
func (q *Query) wholeHalf(l keys.Layout, text, parts []Arg, vals []keys.Value) (key string, given bool, err error) {
	values := vals[len(text):]
	leading, err := leadingParts(parts, values)
	switch {
	case err != nil:
	case vals[0].Present() && len(leading) > 0:
		err = fmt.Errorf("give %s, or %s, and not both", text[0].Name, names(parts))
	case vals[0].Present():
		key, err = l.Whole(text[0].Name, vals[0].Text())
	case len(leading) == 0:
		return "", false, nil
	case len(leading) < len(parts):
		err = fmt.Errorf("the argument %s is missing: give all of %s, or %s", parts[len(leading)].Name, names(parts), text[0].Name)
	default:
		key, err = l.Compose(values...)
	}
	if err != nil {
		return "", false, graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
	}
	return key, true, nil
}

// leadingParts are the values of those parts of a half that are given; each is given with those before it.
func leadingParts(parts []Arg, vals []keys.Value) ([]keys.Value, error) {
	n := keys.CountLeading(vals)
	for i := n; i < len(vals); i++ {
		if vals[i].Present() {
			return nil, fmt.Errorf("%s is given without %s, which comes before it in the key", parts[i].Name, parts[n].Name)
		}
	}
	return vals[:n], nil
}

// names enumerates arguments.
func names(args []Arg) string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = a.Name
	}
	return strings.Join(all, " and ")
}
