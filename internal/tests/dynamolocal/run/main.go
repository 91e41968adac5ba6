// Run starts DynamoDB Local, keeps its data in a folder, and runs a command that finds it by its environment:
//
//	go run ./internal/tests/dynamolocal/run [-dir data/dynamodb] [-port 8000] [command [argument]...]
//	go run ./internal/tests/dynamolocal/run -install
//
// The engine ends when the command has ended, or by Ctrl-C where there is none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

func main() {
	if err := run(); err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) && failed.Exited() {
			os.Exit(failed.ExitCode())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	install := flag.Bool("install", false, "install every engine that runs on this machine, and start none")
	o := dynamolocal.Options{Engine: dynamolocal.Local}
	flag.StringVar(&o.Dir, "dir", "", "folder of the data; none is in memory")
	flag.IntVar(&o.Port, "port", 0, "port to listen at; 0 is a free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *install {
		return installAll(ctx)
	}
	engine, err := dynamolocal.Run(ctx, o)
	if err != nil {
		return err
	}
	if flag.NArg() > 0 {
		stop()
	}
	fmt.Fprintf(os.Stderr, "DynamoDB Local listens at %s\n", engine.URL)
	if flag.NArg() == 0 {
		err = wait(ctx, engine)
	} else {
		err = follow(engine, flag.Args())
	}
	return errors.Join(err, engine.Stop())
}

func installAll(ctx context.Context) error {
	for _, e := range dynamolocal.Engines() {
		if _, err := dynamolocal.Install(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, engine *dynamolocal.Process) error {
	select {
	case <-ctx.Done():
		return nil
	case <-engine.Exited():
		return fmt.Errorf("DynamoDB Local ended by itself:\n%s", engine.Log())
	}
}

// follow runs the command to its end, or to that of the engine. Ctrl-C reaches it from the terminal; SIGTERM it is told
// of.
func follow(engine *dynamolocal.Process, command []string) error {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // caught and left to the command
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		<-engine.Exited()
		cancel(fmt.Errorf("DynamoDB Local ended by itself:\n%s", engine.Log()))
	}()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), dynamolocal.Endpoint{URL: engine.URL, AccessKey: "local"}.Env()...)
	err := cmd.Run()
	if errors.Is(err, ctx.Err()) && cmd.ProcessState.Success() {
		err = nil // it ended well when it was told to
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}
