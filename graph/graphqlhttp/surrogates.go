package graphqlhttp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// Characters beyond U+FFFF can be written as two escapes, a surrogate pair: \ud83d\ude00. The readers of JSON and of
// documents take half of such a pair for U+FFFD, with which a query would read another row than the one that it names.
// So half a pair is refused here.

const halfAPair = "%s is half a surrogate pair: write both halves, or the character itself"

// checkJSONEscapes refuses JSON with half a surrogate pair.
func checkJSONEscapes(text []byte) error {
	if !bytes.Contains(text, []byte(`\u`)) {
		return nil
	}
	if at := findHalfPair(text); at >= 0 {
		return fmt.Errorf(halfAPair, text[at:at+unitBytes])
	}
	return nil
}

// checkEscapes refuses a document, which was parsed, with half a surrogate pair in a string. Comments and block strings
// have no escapes.
func checkEscapes(document string) *gqlerror.Error {
	if !strings.Contains(document, `\u`) {
		return nil
	}
	for rest := document; ; {
		next := strings.IndexAny(rest, `"#`)
		if next < 0 {
			return nil
		}
		rest = rest[next:]
		size := 0
		switch {
		case rest[0] == '#':
			size = commentBytes(rest)
		case strings.HasPrefix(rest, `"""`):
			size = blockStringBytes(rest)
		default:
			size = stringBytes(rest)
			if at := findHalfPair(rest[:size]); at >= 0 {
				return halfPairError(document, len(document)-len(rest)+at)
			}
		}
		rest = rest[size:]
	}
}

// halfPairError is the error of the escape at an offset of a document.
func halfPairError(document string, at int) *gqlerror.Error {
	err := coded(graphqlerr.ParseFailed, halfAPair, document[at:at+unitBytes])
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(document[:at])
	err.Locations = []gqlerror.Location{{
		Line:   1 + strings.Count(lines, "\n"),
		Column: 1 + utf8.RuneCountInString(lines[1+strings.LastIndexByte(lines, '\n'):]),
	}}
	return err
}

func commentBytes(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// blockStringBytes is the size of the block string that a text begins with. It ends with the last of three quotes or
// more in a row, before which there is no backslash.
func blockStringBytes(text string) int {
	const quotes = `"""`
	at := len(quotes)
	for {
		next := strings.Index(text[at:], quotes)
		if next < 0 {
			return len(text)
		}
		at += next + len(quotes)
		if text[at-len(quotes)-1] != '\\' {
			return len(text) - len(strings.TrimLeft(text[at:], `"`))
		}
	}
}

// stringBytes is the size of the string that a text begins with.
func stringBytes(text string) int {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return len(text)
}

// unitBytes is the size of the escape of one UTF-16 unit, \uXXXX.
const unitBytes = 6

// findHalfPair returns where a text has an escape that is half a surrogate pair, -1 where there is none.
func findHalfPair[T string | []byte](text T) int {
	for at := 0; at < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		switch unit := escapedUnit(text[at:]); {
		case !utf16.IsSurrogate(unit):
			at++ // what follows a backslash begins no escape
		case utf16.DecodeRune(unit, escapedUnit(text[at+unitBytes:])) == utf8.RuneError:
			return at
		default:
			at += 2*unitBytes - 1
		}
	}
	return -1
}

// escapedUnit is the UTF-16 unit whose escape a text begins with, -1 where it begins with none.
func escapedUnit[T string | []byte](text T) rune {
	if len(text) < unitBytes || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:unitBytes]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
