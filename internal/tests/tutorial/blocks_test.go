package tutorial

import (
	"fmt"
	"regexp"
	"strings"
)

// block is a fenced block of the tutorial, with the sentence before it, which says what to do with it.
type block struct {
	line                  int // of the opening fence
	language, text, intro string
}

func (b block) String() string { return fmt.Sprintf("docs/tutorial.md:%d: %q", b.line, b.intro) }

// blocks finds the blocks of a Markdown text.
func blocks(markdown string) ([]block, error) {
	var found []block
	var paragraph []string
	lines := strings.Split(markdown, "\n")
	for i := 0; i < len(lines); i++ {
		language, fence := strings.CutPrefix(lines[i], "```")
		if !fence {
			switch {
			case strings.HasPrefix(lines[i], "    "), strings.HasPrefix(lines[i], "~~~"), strings.HasPrefix(lines[i], "\t"):
				return nil, fmt.Errorf("line %d: write blocks between ``` only", i+1)
			case lines[i] != "" && i > 0 && lines[i-1] == "":
				paragraph = nil
			}
			paragraph = append(paragraph, lines[i])
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", i+1)
		}
		found = append(found, block{
			line: i + 1, language: language, text: strings.Join(lines[i+1:end], "\n") + "\n",
			intro: lastSentence(strings.TrimSpace(strings.Join(paragraph, " "))),
		})
		i, paragraph = end, nil
	}
	return found, nil
}

// lastSentence returns the last sentence of a paragraph; a point inside a word, as in a file's name, ends none.
func lastSentence(paragraph string) string {
	at := max(strings.LastIndex(paragraph, ". "), strings.LastIndex(paragraph, ", and then "))
	return strings.TrimSpace(strings.TrimPrefix(paragraph[at+1:], "."))
}

var fileSentence = regexp.MustCompile("^(Write|Add to|Change) `([^`]+)`:$")

// file returns what the sentence before the block says of a file: what to do, and with which.
func (b block) file() (verb, name string) {
	if m := fileSentence.FindStringSubmatch(b.intro); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// patch changes a text as the lines of a diff say, which must fit in one place.
func patch(text, diff string) (string, error) {
	var before, after strings.Builder
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		default:
			return "", fmt.Errorf("a line of a diff begins with -, + or a space: %q", line)
		}
	}
	if n := strings.Count(text, before.String()); n != 1 {
		return "", fmt.Errorf("the text has these lines %d times:\n%s", n, before.String())
	}
	return strings.Replace(text, before.String(), after.String(), 1), nil
}
