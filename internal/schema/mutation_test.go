package schema

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

var token = regexp.MustCompile(`"[^"\n]*"|@?[A-Za-z0-9_]+|\S|\n`)

// TestMixedUpSchemasAreAnswered: schemas whose words are left out, repeated and taken from one another parse more often
// than random text does; all of them get a Model or an error.
func TestMixedUpSchemasAreAnswered(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var texts [][]string
	var words []string
	for _, kind := range []string{"good", "bad"} {
		for _, dir := range folders(t, filepath.Join("testdata", kind)) {
			split := token.FindAllString(text(t, dir, "*.graphqls"), -1)
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
		if !strings.Contains(found.Error(), "correct the text here") {
			parsed++
		}
	}
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
			split[i] = words[rnd.IntN(len(words))]
		}
	}
	return strings.Join(split, " ")
}
