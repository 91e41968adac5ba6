package gen

import (
	"bytes"
	"os"
	"testing"
)

// TestTheFieldsOfQueryShareAFunction, in what was generated for the shop: gqlgen writes them in the way that is known
// here.
func TestTheFieldsOfQueryShareAFunction(t *testing.T) {
	text, err := os.ReadFile("../shop/" + execFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("rootField(innerCtx, ")) || bytes.Contains(text, []byte("rrm := ")) {
		t.Error("fields of Query have closures of their own: see shareRootFields, what does gqlgen write instead?")
	}
}
