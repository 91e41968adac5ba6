package schema

import (
	"slices"
	"strconv"
	"strings"
)

// AtLeast reports whether a guard is at least as strict as another: everybody whom it admits is admitted by the other
// too. Nil admits everybody, a guard without groups and owner every caller with a token.
func (a *Auth) AtLeast(other *Auth) bool {
	switch {
	case other == nil:
		return true
	case a == nil:
		return false
	case other.AnyCaller():
		return true
	case a.AnyCaller():
		return false
	}
	within := func(group string) bool { return slices.Contains(other.Groups, group) }
	return (other.Owner || !a.Owner) && !slices.ContainsFunc(a.Groups, func(g string) bool { return !within(g) })
}

// AnyCaller reports whether the guard admits every caller who is verified: it names neither groups nor an owner.
func (a *Auth) AnyCaller() bool { return len(a.Groups) == 0 && !a.Owner }

// String is the guard as the schema writes it.
func (a *Auth) String() string {
	var args []string
	if len(a.Groups) > 0 {
		args = append(args, "groups: "+QuotedList(a.Groups))
	}
	if a.Owner {
		args = append(args, "owner: true")
	}
	if args == nil {
		return "@auth"
	}
	return "@auth(" + strings.Join(args, ", ") + ")"
}

// QuotedList is a list of strings as GraphQL writes it: ["a", "b"].
func QuotedList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = strconv.Quote(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Auth is @auth.
type Auth struct {
	Groups []string
	Owner  bool
}
