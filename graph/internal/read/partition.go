package read

import (
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// IsEntity reports whether rows of the type share their table with others: its queries then take the parts of keys by
// their own names and as values of their own types.
func IsEntity(t *catalog.Type) bool { return t.Model.Entity != nil }

// halves returns the key that the query of a type reads by.
func halves(q *catalog.Query, m *querydb.Model) (pk, sk querydb.Half) {
	if q.Index == driver.Primary {
		return m.PK, m.SK
	}
	return m.Indexes[q.Index].PK, m.Indexes[q.Index].SK
}

// partitionHalf returns the partition half of the key that the query of a type reads by.
func partitionHalf(q *catalog.Query, t *catalog.Type) querydb.Half {
	half, _ := halves(q, t.Model)
	return half
}

// partition composes the partition key that the arguments name.
func partition(q *catalog.Query, half *keys.Composer, vals []keys.Value) (string, error) {
	if !half.Layout.Exists() {
		return keys.SingletonPK, nil
	}
	if len(vals) > len(q.PK) {
		pk, given, err := composeHalf(q, half, q.PK, q.PKParts, vals)
		if err == nil && !given {
			err = graphqlerr.New(graphqlerr.BadUserInput, "%s: give %s, or %s", q.Name, q.PK[0].Name, names(q.PKParts))
		}
		return pk, err
	}
	pk, err := compose(half, q.PK, vals)
	if given := keys.CountLeading(vals); given < len(vals) && q.PK[given].Optional {
		pk, err = cutShort(q, half, vals, given)
	}
	if err != nil {
		return "", badArgument(q, err)
	}
	return pk, nil
}

// cutShort composes a partition key of its leading attributes.
func cutShort(q *catalog.Query, l *keys.Composer, vals []keys.Value, given int) (string, error) {
	for i := given; i < len(vals); i++ {
		if vals[i].Present() {
			return "", fmt.Errorf("%s is given without %s, which comes before it in the key", q.PK[i].Name, q.PK[given].Name)
		}
	}
	return l.ComposeTruncated(vals[:given]...)
}

// compose composes a half of a key of the values of its arguments: one for each of its fields. Where the API takes the
// half as one id, of several fields or of one that is no text, the value is the text of the half itself, as operands
// are.
func compose(l *keys.Composer, args []catalog.KeyArg, vals []keys.Value) (string, error) {
	segments := l.Layout.Segments
	switch {
	case len(vals) != 1 || vals[0].Kind() != keys.KindString:
		return l.Compose(vals...)
	case len(segments) != 1 || segments[0].Kind != keys.KindString:
		return l.ParseKey(args[0].Name, vals[0].AsString())
	}
	if l.Enums != nil {
		if err := l.CheckEnum(args[0].Name, 0, vals[0]); err != nil {
			return "", err
		}
	}
	return l.Compose(vals...)
}

// composeHalf composes a half of several fields of a table of its own: of its text, which is the first value, or of its
// parts, which are those after it. given is false where neither is there.
func composeHalf(q *catalog.Query, l *keys.Composer, text, parts []catalog.KeyArg, vals []keys.Value) (key string,
	given bool, err error) {
	values := vals[len(text):]
	leading, err := leadingParts(parts, values)
	switch {
	case err != nil:
	case vals[0].Present() && len(leading) > 0:
		err = fmt.Errorf("give %s, or %s, and not both", text[0].Name, names(parts))
	case vals[0].Present():
		key, err = l.ParseKey(text[0].Name, vals[0].AsString())
	case len(leading) == 0:
		return "", false, nil
	case len(leading) < len(parts):
		err = fmt.Errorf("the argument %s is missing: give all of %s, or %s", parts[len(leading)].Name, names(parts),
			text[0].Name)
	default:
		key, err = l.Compose(values...)
	}
	if err != nil {
		return "", false, badArgument(q, err)
	}
	return key, true, nil
}

// badArgument is the error of arguments that make no key, unless the stored keys are to blame.
func badArgument(q *catalog.Query, err error) error {
	if errors.Is(err, keys.ErrFormerLayout) {
		return err
	}
	return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
}

// leadingParts are the values of those parts of a half that are given; each is given with those before it.
func leadingParts(parts []catalog.KeyArg, vals []keys.Value) ([]keys.Value, error) {
	n := keys.CountLeading(vals)
	for i := n; i < len(vals); i++ {
		if vals[i].Present() {
			return nil, fmt.Errorf("%s is given without %s, which comes before it in the key", parts[i].Name, parts[n].Name)
		}
	}
	return vals[:n], nil
}

// names enumerates arguments.
func names(args []catalog.KeyArg) string {
	all := make([]string, len(args))
	for i, a := range args {
		all[i] = a.Name
	}
	return strings.Join(all, " and ")
}
