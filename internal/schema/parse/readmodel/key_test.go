package readmodel

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
)

// TestSeparatorsAreFitForKeys: every separator that a schema may have is one that the keys take.
func TestSeparatorsAreFitForKeys(t *testing.T) {
	for _, sep := range strings.Split(separators, "") {
		if err := keys.CheckSep(sep); err != nil {
			t.Error(err)
		}
	}
}
