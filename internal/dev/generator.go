package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/foldql/foldql/internal/gen"
)

// GenerateCommand is the command of this program, followed by the folder of a project, that generates the code of the
// project: what was found and written goes to the standard output, and to the standard error what it fails of.
const GenerateCommand = "dev-generate"

// toGenerate is how long a generation may go on after the context has ended, so as not to leave half of its files.
const toGenerate = 5 * time.Second

// Generate is what the process of [GenerateCommand] does. Its input ends with foldql dev, or where that is to end: it
// then gives up waiting for another process that generates the code.
func Generate(root string, in io.Reader, out io.Writer) error {
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		giveUp()
	}()
	return gen.GenerateAfter(ctx, root, out)
}

// generateApart generates the code of a project in a process of its own, and writes what it tells to out. gqlgen keeps
// the names that it has given for as long as a process lives, and gives a type that is mended another one.
func generateApart(ctx context.Context, root string, out io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the path of this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, GenerateCommand, root)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("run %s %s: %w: start foldql dev again", program, GenerateCommand, err)
	}
	cmd.Cancel = func() error {
		_ = in.Close()
		return os.ErrProcessDone // it is killed later, and has not failed where it ends before
	}
	cmd.WaitDelay = toGenerate
	var wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &wrong
	cmd.SysProcAttr = attributes()
	runtime.LockOSThread() // the system ends the process with the thread that has started it
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	if _, failed := errors.AsType[*exec.ExitError](err); failed && wrong.Len() > 0 {
		return errors.New(string(bytes.TrimSpace(wrong.Bytes())))
	}
	if err != nil {
		return fmt.Errorf("run %s %s: %w: start foldql dev again", program, GenerateCommand, err)
	}
	_, err = out.Write(wrong.Bytes())
	return err
}
