package eventlock

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Changed are the names of the types of events that one text of the file knows otherwise than a former one, or alone:
// those that they have now, and those that they had. They are all types where more than events has changed.
func Changed(was, now string) (types []string) {
	lock, found := Read(now)
	if len(found.Errors()) > 0 {
		lock = &Lock{}
	}
	named := map[string][]string{}
	for _, t := range lock.Events {
		named[t.Name] = t.Names()
	}
	before := definitions(was)
	for name, text := range definitions(now) {
		names, isEvent := named[name]
		switch {
		case before[name] == text:
		case isEvent:
			types = append(types, names...)
		default:
			types = slices.Concat(slices.Collect(maps.Values(named))...)
			slices.Sort(types)
			return types
		}
	}
	slices.Sort(types)
	return types
}

// Declared are the names of the types of events that a text of the file knows, those that they had among them. There
// are none of a text that has errors.
func Declared(text string) (names []string) {
	lock, found := Read(text)
	if len(found.Errors()) > 0 {
		return nil
	}
	for _, t := range lock.Events {
		names = append(names, t.Names()...)
	}
	return names
}

// With is a text of the file that also defines an event of another text, with what is inside of it and what it was in
// former versions. Whatever the one text defines, it goes on to define so.
func With(text, other, event string) string {
	has, all := definitions(text), definitions(other)
	added := map[string]bool{}
	for wanted := []string{event}; len(wanted) > 0; wanted = wanted[1:] {
		name := wanted[0]
		if _, known := has[name]; known || added[name] || all[name] == "" {
			continue
		}
		added[name] = true
		for word := range words(all[name]) {
			wanted = append(wanted, word)
		}
		for former, block := range all {
			if strings.Contains(block, fmt.Sprintf(" @former(of: %q,", name)) {
				wanted = append(wanted, former)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		text += "\n" + all[name] + "\n"
	}
	return text
}

// words are the names in a text.
func words(text string) iter.Seq[string] {
	outside := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.FieldsFuncSeq(text, outside)
}

// definitions are the texts of what a file defines, by name.
func definitions(text string) map[string]string {
	all := map[string]string{}
	for block := range strings.SplitSeq(text, "\n\n") {
		block = strings.TrimSpace(block)
		if words := strings.Fields(block); len(words) > 1 && !strings.HasPrefix(block, "#") {
			all[words[1]] = block
		}
	}
	return all
}
