// Package rule lists what can be wrong with a schema: each rule with its code, its message and what to do about it. A
// file holds the rules of one subject.
package rule

import (
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// Rule is one thing that can be wrong, with its words. {1}, {2} … stand for what a report fills in.
type Rule struct {
	Code    string
	message string
	fix     string
	warning bool
}

// All are all rules there are; a test finds those that no case breaks.
var All []*Rule

func newRule(code, message, fix string) *Rule {
	r := &Rule{Code: code, message: message, fix: fix}
	All = append(All, r)
	return r
}

func newWarning(code, message, fix string) *Rule {
	r := newRule(code, message, fix)
	r.warning = true
	return r
}

// Broken makes the diagnostic of a broken rule.
func (r *Rule) Broken(pos schema.Pos, typ, field string, args ...string) schema.Diagnostic {
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i+1)+"}", a)
	}
	fill := strings.NewReplacer(pairs...)
	return schema.Diagnostic{
		Pos: pos, Type: typ, Field: field, Warning: r.warning, Code: r.Code,
		Message: fill.Replace(r.message), Fix: fill.Replace(r.fix),
	}
}
