package gen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/foldql/foldql/internal/gen/exclusive"
)

// aloneFile is in the folder of a project while its code is generated.
const aloneFile = ".foldql-generate.lock"

// alone waits until no other process generates the code of the project in the working directory, and keeps others from
// it until unlock is called: both would read what the other is about to write. It gives up where the context ends.
func alone(ctx context.Context, out io.Writer) (unlock func() error, err error) {
	path, err := filepath.Abs(aloneFile)
	if err != nil {
		return nil, fmt.Errorf("find the folder of the project: %w", err)
	}
	who := "another process"
	unlock, err = exclusive.Take(ctx, path, func(process int) error {
		if process > 0 {
			who = fmt.Sprintf("process %d", process)
		}
		if _, err := fmt.Fprintf(out, "%s generates the code of this project: waiting until it ends\n", who); err != nil {
			return fmt.Errorf("tell who generates the code: %w", err)
		}
		return nil
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, fmt.Errorf("gave up waiting for %s, which generates the code of this project", who)
	}
	return unlock, err
}
