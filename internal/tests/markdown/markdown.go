// Package markdown finds the blocks of documents that tests execute, and what the sentences before them say to do with
// them.
package markdown

import (
	"fmt"
	"regexp"
	"strings"
)

// Block is a fenced block of a document, with the sentence before it, which says what to do with it.
type Block struct {
	Document              string // its name
	Line                  int    // of the opening fence
	Language, Text, Intro string
}

func (b Block) String() string { return fmt.Sprintf("%s:%d: %q", b.Document, b.Line, b.Intro) }

// Blocks finds the blocks of a document. One that is not between ``` is an error, since no test would execute it.
func Blocks(document, text string) ([]Block, error) {
	var found []Block
	var paragraph []string
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		language, fence := strings.CutPrefix(lines[i], "```")
		if !fence {
			switch {
			case strings.HasPrefix(lines[i], "    "), strings.HasPrefix(lines[i], "~~~"), strings.HasPrefix(lines[i], "\t"):
				return nil, fmt.Errorf("%s:%d: write blocks between ``` only", document, i+1)
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
			return nil, fmt.Errorf("%s:%d: the block has no end", document, i+1)
		}
		found = append(found, Block{
			Document: document, Line: i + 1, Language: language, Text: strings.Join(lines[i+1:end], "\n") + "\n",
			Intro: lastSentence(strings.TrimSpace(strings.Join(paragraph, " "))),
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

// File returns what the sentence before the block says of a file: what to do (Write, Add to, Change), and with which.
func (b Block) File() (verb, name string) {
	if m := fileSentence.FindStringSubmatch(b.Intro); m != nil {
		return m[1], m[2]
	}
	return "", ""
}
