package advice

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

func TestRowsThatAreNotOnRecordComeWithTheCommandOnce(t *testing.T) {
	err := Add(Add(fmt.Errorf("open: %w", &querydb.UnknownRowsError{Table: "Task"})))
	if n := strings.Count(err.Error(), "'server tables apply --notes-lost'"); n != 1 {
		t.Errorf("the command is named %d times: %v", n, err)
	}
	if !errors.Is(err, querydb.ErrUnavailable) {
		t.Errorf("%v is no longer ErrUnavailable", err)
	}
}

func TestTablesThatAreNotReadyComeWithTheCommand(t *testing.T) {
	err := Add(fmt.Errorf("open: %w", driver.ErrTablesNotReady))
	if !strings.Contains(err.Error(), "'server tables apply'") || !errors.Is(err, querydb.ErrUnavailable) {
		t.Errorf("%v, want ErrUnavailable that names the command", err)
	}
}

func TestARemovalThatIsNotAllowedComesWithTheFlag(t *testing.T) {
	for _, err := range []error{driver.ErrRemovalNotAllowed,
		fmt.Errorf("open: %w: %w", driver.ErrTablesNotReady, driver.ErrRemovalNotAllowed)} {
		if got := Add(err); !strings.Contains(got.Error(), "'server tables apply --allow-delete'") || !errors.Is(got, err) {
			t.Errorf("%v, want the flag", got)
		}
	}
}

func TestOtherErrorsStayAsTheyAre(t *testing.T) {
	if other := errors.New("other"); Add(other) != other || Add(nil) != nil {
		t.Error("an error without advice was changed")
	}
}
