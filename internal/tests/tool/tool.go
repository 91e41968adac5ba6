// Package tool runs the command foldql as its users do, for tests that need what it generates and are not about how.
package tool

import (
	"fmt"
	"os/exec"
)

// Generate generates the code of the project in a folder, and returns what the command says. The command is without the
// race detector, also where the test has it: with it, a generation takes several times as long.
func Generate(dir string) (said string, err error) {
	out, err := exec.Command("go", "run", "github.com/foldql/foldql/cmd/foldql", "generate", "--dir", dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("generate %s: %w\n%s", dir, err, out)
	}
	return string(out), nil
}
