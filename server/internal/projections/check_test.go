package projections

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb"
)

// TestAModelThatNothingFoldsIsRefused, and where its projection is missing is said.
func TestAModelThatNothingFoldsIsRefused(t *testing.T) {
	err := Check([]*querydb.Model{{Name: "Loan"}}, nil)
	for _, want := range []string{"read model Loan (ops.ProjectLoan)", "projection/projectors/projectors.go"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}
