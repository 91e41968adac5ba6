package sdl

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

// checkText reports a character that a description cannot hold where it goes: into comments of Go, and into the schema
// that is served, as it is. In our schemas an escape can stand for it.
func (l *soundChecker) checkText(pos *ast.Position, typ, field, what, text string) {
	if i := strings.IndexFunc(text, isNoText); i >= 0 {
		found, _ := utf8.DecodeRuneInString(text[i:])
		l.add(rule.TextCharacter.Broken(Position(pos), typ, field, what, fmt.Sprintf("U+%04X", found)))
	}
}

// isNoText reports what neither of both can hold: a control character, but for white space, or a byte order mark.
func isNoText(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == '\ufeff' }
