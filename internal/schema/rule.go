package schema

import (
	"strconv"
	"strings"
)

// rule is one thing that can be wrong, with its words. {1}, {2} … stand for what a report fills in.
type rule struct {
	code    string
	message string
	fix     string
	warning bool
}

// rules are all rules there are; a test finds those that no case breaks.
var rules []*rule

func newRule(code, message, fix string) *rule {
	r := &rule{code: code, message: message, fix: fix}
	rules = append(rules, r)
	return r
}

func newWarning(code, message, fix string) *rule {
	r := newRule(code, message, fix)
	r.warning = true
	return r
}

// broken makes the diagnostic of a broken rule.
func (r *rule) broken(pos Pos, typ, field string, args ...string) Diagnostic {
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i+1)+"}", a)
	}
	fill := strings.NewReplacer(pairs...)
	return Diagnostic{
		Pos: pos, Type: typ, Field: field, Warning: r.warning, Code: r.code,
		Message: fill.Replace(r.message), Fix: fill.Replace(r.fix),
	}
}
