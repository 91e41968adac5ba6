package dynamolocal

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed SHA256SUMS
var sums string

// Install fetches the engine where it is missing, and the Java that it needs where that may be. It returns the command
// that begins it.
func Install(ctx context.Context, e Engine) (command []string, err error) {
	dir, err := home()
	if err != nil {
		return nil, err
	}
	unlock, err := lock(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, fmt.Errorf("dynamolocal: take turns at installing: %w", err)
	}
	defer unlock()
	modules := filepath.Join(dir, "node_modules")
	program, err := verify(modules, e)
	if errors.Is(err, os.ErrNotExist) {
		if err = fetch(ctx, dir); err == nil {
			program, err = verify(modules, e)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("dynamolocal: install %s: %w", e, err)
	}
	if e == Dynoxide {
		return []string{program}, nil
	}
	java, err := findJava(ctx)
	if err != nil {
		return nil, fmt.Errorf("dynamolocal: %s needs Java %d: %w", e, leastJava, err)
	}
	lib := filepath.Join(filepath.Dir(program), "DynamoDBLocal_lib")
	return []string{java, "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.library.path=" + lib, "-jar",
		program}, nil
}

// home is this package's folder, in the source tree that the working directory is in.
func home() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("dynamolocal: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		home := filepath.Join(at, "internal", "tests", "dynamolocal")
		if _, err := os.Stat(filepath.Join(home, "package-lock.json")); err == nil {
			return home, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("dynamolocal: %s is not in the source tree that has the engines: run in it", dir)
		}
	}
}

// verify compares the engine's files with their checksums, and returns the path of its program.
func verify(modules string, e Engine) (program string, err error) {
	for line := range strings.Lines(sums) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasPrefix(name, e.folder()) {
			continue
		}
		path := filepath.Join(modules, filepath.FromSlash(name))
		got, err := checksum(path)
		if err != nil {
			return "", err
		}
		if got != sum {
			return "", fmt.Errorf("%s is not what was pinned: its SHA-256 is %s, and must be %s: remove %s", path, got,
				sum, modules)
		}
		if filepath.Base(path) == e.program() {
			program = path
		}
	}
	return program, nil
}

func checksum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fetch has npm install what package-lock.json pins; npm compares each package with the checksum in there.
func fetch(ctx context.Context, dir string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is not there: install Node.js 20 or newer, which has it")
	}
	return do(ctx, dir, npm, "ci", "--ignore-scripts", "--loglevel=error")
}

// do runs a program to its end; what it printed is in the error.
func do(ctx context.Context, dir, program string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &out)
	}
	return nil
}
