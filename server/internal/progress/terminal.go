package progress

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Terminal returns the writer as a terminal, nil where a person does not look at it.
func Terminal(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}
