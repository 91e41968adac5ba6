package conventions

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheQueriesOfThePlayground: what a reader pastes is what the tests of the server have run.
func TestReadmeShowsTheQueriesOfThePlayground(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("../../../cmd/server/examples.graphql")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```graphql\n"+string(examples)+"```") {
		t.Error("README.md does not show cmd/server/examples.graphql as it is")
	}
}
