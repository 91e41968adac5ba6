package sourcehash

import (
	"crypto/sha256"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// fileSum is the hash of the tokens of a file. Imports count in any order, because formatting sorts them.
func fileSum(text []byte) string {
	var s tokens
	files := token.NewFileSet()
	s.scan.Init(files.AddFile("", files.Base(), len(text)), text, nil, scanner.ScanComments)
	var imports []string
	var rest strings.Builder
	for s.next(); s.tok != token.EOF; {
		if s.tok == token.IMPORT {
			imports = append(imports, s.imports()...)
			continue
		}
		rest.WriteString(s.text())
		s.next()
	}
	slices.Sort(imports)
	return short(sha256.Sum256([]byte(strings.Join(imports, "\n") + "\n" + rest.String())))
}

// tokens are those of a file that mean something. A comma or semicolon before a closing parenthesis does not: whether
// there is one hangs on line breaks.
type tokens struct {
	scan   scanner.Scanner
	tok    token.Token
	lit    string
	ahead  bool // the token after it has been read
	after  token.Token
	behind string // literal of after
}

func (s *tokens) next() {
	for s.read(); s.tok == token.COMMA || s.tok == token.SEMICOLON; {
		s.after, s.behind = s.scanned()
		if s.ahead = true; !closes(s.after) {
			return
		}
		s.read()
	}
}

func (s *tokens) read() {
	if s.ahead {
		s.tok, s.lit, s.ahead = s.after, s.behind, false
		return
	}
	s.tok, s.lit = s.scanned()
}

// scanned is the next token that is no comment. Directives, such as those that say when a file is compiled, count.
func (s *tokens) scanned() (token.Token, string) {
	for {
		_, tok, lit := s.scan.Scan()
		switch {
		case tok == token.SEMICOLON:
			return tok, "" // whether it is written or not
		case tok != token.COMMENT || strings.HasPrefix(lit, "//go:") && !strings.HasPrefix(lit, "//go:generate"):
			return tok, lit
		}
	}
}

func closes(t token.Token) bool {
	return t == token.RPAREN || t == token.RBRACK || t == token.RBRACE || t == token.EOF
}

// text is the token as it is hashed. No source holds the character that ends it.
func (s *tokens) text() string { return s.tok.String() + " " + s.lit + "\x00" }

// imports are what a declaration imports, which begins at the token: a list in parentheses, or one.
func (s *tokens) imports() (all []string) {
	s.next()
	list := s.tok == token.LPAREN
	if list {
		s.next()
	}
	var one strings.Builder
	for s.tok != token.RPAREN && s.tok != token.EOF {
		if s.tok != token.SEMICOLON {
			one.WriteString(s.text())
			s.next()
			continue
		}
		all = append(all, one.String())
		one.Reset()
		if s.next(); !list {
			return all
		}
	}
	if one.Len() > 0 {
		all = append(all, one.String())
	}
	if s.next(); s.tok == token.SEMICOLON { // after the parenthesis
		s.next()
	}
	return all
}
