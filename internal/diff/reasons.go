package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reasons says in which lines two texts of code.VersionText differ; nil for equal ones.
func reasons(was, now string) (all []string) {
	if was == now {
		return nil
	}
	before, after := parseVersion(was), parseVersion(now)
	for _, t := range after {
		if text, _ := find(before, t.what); text != t.text {
			all = append(all, t.change(text))
		}
	}
	for _, t := range before {
		if _, known := find(after, t.what); !known && !strings.HasPrefix(t.text, "removed ") {
			all = append(all, t.what+" is removed")
		}
	}
	if all == nil {
		all = []string{"the order of fields, indexes or parts is another"}
	}
	return all
}

// trait is one thing that rows depend on.
type trait struct {
	what string // field title, index byOwner, field note of event TaskAdded
	text string // the lines about it
}

func find(all []trait, what string) (text string, known bool) {
	i := slices.IndexFunc(all, func(t trait) bool { return t.what == what })
	if i < 0 {
		return "", false
	}
	return all[i].text, true
}

// change says how a trait differs from what it was, "" for nothing. Of fields that were added to events later, the text
// has nothing as long as they are what they were then.
func (t trait) change(was string) string {
	switch {
	case strings.HasPrefix(t.text, "removed "):
		return t.what + " is removed"
	case was == "" && strings.HasPrefix(t.text, "added "):
		return t.what + " is another than it was at first"
	case was == "" || strings.HasPrefix(was, "removed "):
		return t.what + " is new"
	}
	before, isNumber := strings.CutPrefix(was, "version ")
	if after, ok := strings.CutPrefix(t.text, "version "); isNumber && ok {
		return fmt.Sprintf("its version is %s, and was %s", after, before)
	}
	if after := dataVersion(t.text); after > 1 && after != dataVersion(was) {
		return fmt.Sprintf("%s is of version %d, and was of version %d", t.what, after, dataVersion(was))
	}
	if before, after := fieldType(was), fieldType(t.text); before != "" && after != "" && before != after {
		return fmt.Sprintf("%s is %s, and was %s", t.what, after, before)
	}
	return t.what + " is another"
}

// dataVersion is the version in the line about an event, 1 where it has none.
func dataVersion(text string) int {
	var name string
	version := 1
	if n, _ := fmt.Sscanf(text, "event %q version=%d", &name, &version); n < 2 {
		return 1
	}
	return version
}

// fieldType is the type in the line about a field of a row that is no object, "" for all others.
func fieldType(text string) string {
	var name, scalar string
	var list, nullable bool
	if n, _ := fmt.Sscanf(text, "field %q %s list=%t nullable=%t", &name, &scalar, &list, &nullable); n < 4 {
		return ""
	}
	if list {
		scalar = "[" + scalar + "]"
	}
	if nullable {
		return scalar
	}
	return scalar + "!"
}

// nameless is what lines are about that name nothing.
var nameless = map[string]string{
	"version": "its version", "projector": "what it is folded from (projector, events, stream or tags)", "key": "its key",
	"times": "which field is its @ttl, @createdAt or @updatedAt", "table": "the key of the table",
	"series": "how its events are kept", "form": "the form of its rows",
}

// named is what lines are about that name it.
var named = map[string]string{
	"writer": "writer", "index": "index", "entity": "model", "item": "part", "event": "event", "field": "field",
	"added": "field", "removed": "field", "reference": "reference", "request": "reference",
}

// versionParser reads a text of code.VersionText.
type versionParser struct {
	all    []trait
	entity string   // of a table, that the lines are about
	event  string   // that the lines are about
	paths  []nested // of the object that the lines are within, the innermost last
}

// nested is an object within which fields are.
type nested struct {
	path string
	left int // of its fields
}

func parseVersion(text string) []trait {
	var p versionParser
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	return p.all
}

func (p *versionParser) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	name := quoted(rest)
	switch word {
	case "entity":
		p.entity, p.event = name, ""
	case "form":
		p.event = ""
	case "event":
		p.event = name
	case "inside":
		p.event = name
		return
	case "field":
		name, line = p.field(name, line)
	}
	about, isNameless := nameless[word]
	if what, ok := named[word]; ok && !isNameless {
		about = what + " " + name
	}
	if about == "" { // more about what the former line is about
		if n := len(p.all); n > 0 {
			p.all[n-1].text += "\n" + line
		}
		return
	}
	if named[word] == "field" && p.event != "" {
		about += " of event " + p.event
	}
	if p.entity != "" && word != "entity" {
		about += " of " + p.entity
	}
	if n := slices.IndexFunc(p.all, func(t trait) bool { return t.what == about }); n >= 0 {
		p.all[n].text += "\n" + line
		return
	}
	p.all = append(p.all, trait{about, line})
}

// field is the path of a field, and its line without what other lines are about.
func (p *versionParser) field(name, line string) (path, own string) {
	if p.event != "" {
		return name, line
	}
	for len(p.paths) > 0 && p.paths[len(p.paths)-1].left == 0 {
		p.paths = p.paths[:len(p.paths)-1]
	}
	if n := len(p.paths); n > 0 {
		p.paths[n-1].left--
		name = p.paths[n-1].path + "." + name
	}
	before, of, isObject := strings.Cut(line, " object of ")
	if !isObject {
		return name, line
	}
	count, after, _ := strings.Cut(of, " ")
	fields, _ := strconv.Atoi(count) // it is the generator's own text
	p.paths = append(p.paths, nested{name, fields})
	return name, before + " object " + after
}

// quoted is the quoted word that a text begins with, "" where it begins with none.
func quoted(text string) string {
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return ""
	}
	name, err := strconv.Unquote(prefix)
	if err != nil {
		return ""
	}
	return name
}
