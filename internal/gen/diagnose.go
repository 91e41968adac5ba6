package gen

import (
	"errors"
	"fmt"
	"github.com/foldql/foldql/internal/gen/code"
	"os/exec"
	"strings"
)

// diagnose adds to a failure of gqlgen why the go command cannot load the library in the project, where that is so:
// gqlgen itself only says that it misses types.
func diagnose(err error) error {
	_, cause := exec.Command("go", "list", code.Library+"/graph").Output()
	if exit, ok := errors.AsType[*exec.ExitError](cause); ok {
		return fmt.Errorf("the project does not find the library: %s (fix: go.mod, or list the project in the go.work "+
			"above it): %w",
			strings.TrimSpace(string(exit.Stderr)), err)
	}
	return err
}
