// Package compact makes the executor that gqlgen writes quick to compile.
//
// gqlgen writes closures for every field and argument, and the compiler makes a function of each. It resolves all
// fields of an object in one function, by closures in variables: wherever one is called, the compiler looks through the
// whole function for what else is assigned to its variable, so the time that it takes for Query grows with the square
// of the number of queries. Therefore calls of package fieldexec take the place of what is the same in all of them, and
// functions that are called in one place are written there: an executor has half of the lines then, and is compiled in
// half the time.
package compact

import (
	"bytes"
	"go/scanner"
	"go/token"
	"slices"
)

// afterSchema is what follows the text of the schema in an executor: of the descriptions that this has nothing is
// replaced.
const afterSchema = "\nvar parsedSchema = "

// Executor is the text of an executor, with calls in place of closures. What another gqlgen writes in another way stays
// as it is, and is right.
func Executor(text []byte) []byte {
	at := bytes.LastIndex(text, []byte(afterSchema))
	if at < 0 {
		return text
	}
	code := text[at:]
	for _, r := range repeatedTexts {
		code = r.written.ReplaceAll(code, []byte(r.call))
	}
	code = fieldArguments.ReplaceAllFunc(code, func(all []byte) []byte {
		return fieldArgument.written.ReplaceAll(fieldArguments.ReplaceAll(all, []byte("$1")), []byte(fieldArgument.call))
	})
	head, imported := withImport(text[:at])
	if !imported {
		return text
	}
	return withoutUnused(slices.Concat(head, inPlace(code)))
}

// Imports of an executor, as lines.
const (
	importOfGqlgen = "\t\"github.com/99designs/gqlgen/graphql\"\n"
	importOfCalls  = "\t\"github.com/foldql/foldql/graph/fieldexec\"\n"
)

// withImport is the beginning of an executor that imports the functions, where gqlgen has put its own imports.
func withImport(head []byte) (with []byte, imported bool) {
	at := bytes.Index(head, []byte(importOfGqlgen))
	if at < 0 {
		return head, false
	}
	for line := range bytes.Lines(head[at:]) { // in the order of the paths
		if path := bytes.TrimLeft(line, "\tabcdefghijklmnopqrstuvwxyz_ "); string(path) >= importOfCalls[1:] ||
			len(path) < 2 {
			break
		}
		at += len(line)
	}
	return slices.Concat(head[:at], []byte(importOfCalls), head[at:]), true
}

// noLonger are packages that gqlgen's code needs and the calls may not, by their imports.
var noLonger = map[string]string{
	"errors": "\t\"errors\"\n", "math": "\t\"math\"\n", "strconv": "\t\"strconv\"\n", "atomic": "\t\"sync/atomic\"\n",
}

// withoutUnused is the code without the imports that nothing in it needs any more.
func withoutUnused(code []byte) []byte {
	used := map[string]bool{}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(code)), code, nil, 0)
	for name := ""; ; {
		_, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			for name, line := range noLonger {
				if !used[name] {
					code = bytes.Replace(code, []byte(line), nil, 1)
				}
			}
			return code
		case token.PERIOD:
			used[name] = true
		}
		name = ""
		if tok == token.IDENT {
			name = literal
		}
	}
}
