package graphqlerr_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// TestEveryCodeIsListed that this package declares, and no other.
func TestEveryCodeIsListed(t *testing.T) {
	text, err := os.ReadFile("graphqlerr.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(text), -1)
	if len(declared) == 0 {
		t.Error("no codes are declared")
	}
	for _, c := range declared {
		if !graphqlerr.Code(c[1]).IsListed() {
			t.Errorf("%s is not listed", c[1])
		}
	}
	for _, c := range []graphqlerr.Code{"", "MY_CODE"} {
		if c.IsListed() {
			t.Errorf("%q is listed", c)
		}
	}
}
