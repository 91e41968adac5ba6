package diff

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// indexRule is who may read through an index, of those whom the type admits: all of them without a group.
type indexRule struct {
	group     string
	table     *schema.ReadModel // whose row under the key names the owner of the key; nil where the key itself does
	groupOnly bool              // the owner of the key is not admitted beside the group
}

func ruleOf(x *schema.Index) indexRule {
	if x == nil {
		return indexRule{}
	}
	return indexRule{group: x.Group, table: x.AuthTable, groupOnly: x.GroupOnly}
}

// String says whom the rule admits.
func (r indexRule) String() string {
	switch {
	case r.group == "":
		return "everybody whom @auth admits"
	case r.groupOnly:
		return fmt.Sprintf("group %q alone", r.group)
	case r.table != nil:
		return fmt.Sprintf("group %q and the owner of the key by %s", r.group, r.table.Name)
	}
	return fmt.Sprintf("group %q and the owner of the key", r.group)
}

// compareRules compares who may read through an index.
func compareRules(was, now *place) []Change {
	if was.rule.String() == now.rule.String() {
		return nil
	}
	shrinks, grows := false, false
	for _, pair := range pairs(was, now) {
		before, after := was.rule.admission(pair[0]), now.rule.admission(pair[1])
		after.guard = before.guard // what the guard of the type changes is said of the type
		for _, c := range callers(before, after) {
			shrinks = shrinks || before.admits(c) && !after.admits(c)
			grows = grows || after.admits(c) && !before.admits(c)
		}
	}
	what := fmt.Sprintf("is for %s, and was for %s", now.rule, was.rule)
	switch {
	case shrinks:
		return []Change{{Breaking, was.at, what, "callers who are not admitted any more"}}
	case grows:
		return []Change{{Noticeable, was.at, what, "callers who are admitted now"}}
	}
	return nil
}

// caller is what is known of somebody who asks; nothing of somebody without a token.
type caller []fact

func (c caller) is(f fact) bool { return slices.Contains(c, f) }

// fact is one thing that can be known of a caller: to be a member of a group, or one of those below.
type fact struct{ group, other string }

var (
	hasToken = fact{other: "has a token"}
	ownsRows = fact{other: "owns the rows"}
	isKey    = fact{other: "is named by the key"}
)

// ownsKeyBy is the fact that a row of a table under the key names the caller.
func ownsKeyBy(table *schema.ReadModel) fact { return fact{other: "owns the key by " + table.Name} }

// admission is whom a rule admits to an origin: those who meet both the guard of the type and the rule.
type admission struct {
	guard  *schema.Auth
	rule   indexRule
	owner  fact // of who is admitted beside the group of the rule; the zero value where nobody is
	proves bool // it proves whose rows there are, so that those may read who own rows alone
}

func (r indexRule) admission(o origin) admission {
	a := admission{guard: o.model.Auth, rule: r, proves: provesOwner(o)}
	pk, _ := o.halves()
	switch {
	case r.group == "" || r.groupOnly:
	case r.table != nil:
		a.owner = ownsKeyBy(r.table)
	case len(pk.Fields) == 1 && pk.Fields[0] == o.model.Owner:
		a.owner = ownsRows
	default:
		a.owner = isKey
	}
	return a
}

// provesOwner reports whether a key says whose its rows are, or there is one row at most, which says so itself. In a
// casing, or where nothing is escaped, two owners could have one key.
func provesOwner(o origin) bool {
	if o.index != nil && o.index.Unique {
		return true
	}
	pk, _ := o.halves()
	exact := pk.Layout.Casing == keys.CasingNone && (pk.Layout.Escape == keys.EscapePercent || len(pk.Fields) == 1)
	return exact && o.model.Owner != nil && slices.Contains(pk.Fields, o.model.Owner)
}

// admits reports whether the caller gets rows.
func (a admission) admits(c caller) bool {
	inGroup := func(group string) bool { return c.is(fact{group: group}) }
	ownsKey, ownAlone := a.owner != (fact{}) && c.is(a.owner), false
	if a.guard != nil {
		switch {
		case a.guard.AnyCaller() && c.is(hasToken) || slices.ContainsFunc(a.guard.Groups, inGroup):
		case a.guard.Owner && c.is(ownsRows):
			ownAlone = true
		default:
			return false
		}
	}
	if a.rule.group != "" && !inGroup(a.rule.group) && !ownsKey {
		return false
	}
	return !ownAlone || a.proves || ownsKey
}

// callers are enough to tell admissions apart: to be admitted takes two facts at most, one for the guard and one for
// the rule, and more of them shut nobody out.
func callers(all ...admission) []caller {
	facts := []fact{hasToken, ownsRows}
	for _, a := range all {
		facts = append(facts, a.owner, fact{group: a.rule.group})
		if a.guard != nil {
			for _, group := range a.guard.Groups {
				facts = append(facts, fact{group: group})
			}
		}
	}
	some := []caller{nil}
	for _, one := range facts {
		for _, other := range facts {
			some = append(some, caller{hasToken, one, other})
		}
	}
	return some
}
