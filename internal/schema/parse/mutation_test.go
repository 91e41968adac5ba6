package parse

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

var wordPattern = regexp.MustCompile(`"[^"\n]*"|@?[A-Za-z0-9_]+|\S|\n`)

// TestMixedUpSchemasAreAnswered: schemas whose words are left out, repeated and taken from one another parse more often
// than random text does; all of them get a Model or an error.
func TestMixedUpSchemasAreAnswered(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var texts [][]string
	var words []string
	for _, kind := range []string{"good", "bad"} {
		for _, dir := range folders(t, filepath.Join("testdata", kind)) {
			split := wordPattern.FindAllString(text(t, dir, "schema*.graphqls"), -1)
			texts = append(texts, split)
			words = append(words, split...)
		}
	}
	parsed := 0
	for range 2000 {
		readModels, events := mixed(rnd, texts, words), mixed(rnd, texts, words)
		model, found := Load(
			[]*ast.Source{{Name: "schema.graphqls", Input: readModels}},
			[]*ast.Source{{Name: "events.graphqls", Input: events}},
		)
		if failed := found.Err() != nil; failed == (model != nil) {
			t.Fatalf("seed %d: model %v, diagnostics:\n%v\nof\n%s\n%s", seed, model, found, readModels, events)
		}
		if !slices.ContainsFunc(found, func(d schema.Diagnostic) bool { return d.Code == rule.Syntax.Code }) {
			parsed++
		}
	}
	t.Logf("seed %d: %d of 2000 schemas parse", seed, parsed)
	if parsed < 200 {
		t.Errorf("seed %d: only %d of 2000 schemas parse", seed, parsed)
	}
}

// mixed changes up to three words of a schema.
func mixed(rnd *rand.Rand, texts [][]string, words []string) string {
	split := append([]string(nil), texts[rnd.IntN(len(texts))]...)
	for range rnd.IntN(4) {
		if len(split) == 0 {
			break
		}
		i := rnd.IntN(len(split))
		switch rnd.IntN(4) {
		case 0:
			split = append(split[:i], split[i+1:]...)
		case 1:
			split = append(split[:i+1], split[i:]...)
		default:
			if word := words[rnd.IntN(len(words))]; sameClass(word, split[i]) {
				split[i] = word
			}
		}
	}
	return strings.Join(split, " ")
}

// sameClass: names may take the place of names, directives of directives, the rest of itself alone.
func sameClass(a, b string) bool {
	class := func(word string) string {
		switch c := word[0]; {
		case c == '@' || c == '"':
			return word[:1]
		case c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z':
			return "name"
		}
		return word
	}
	return class(a) == class(b)
}
