package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

// name is that of what is published for the platform.
func (p platform) name(version string) string {
	return fmt.Sprintf("foldql_%s_%s_%s", strings.TrimPrefix(version, "v"), p.os, p.arch)
}

// binary is the name of the command.
func (p platform) binary() string {
	if p.os == "windows" {
		return "foldql.exe"
	}
	return "foldql"
}

// release is one version.
type release struct {
	version   string
	source    string // the checkout
	dir       string // of what is made
	platforms []platform
}

// sbom is what lists the modules in a binary.
const sbom = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"

// tagged returns an error where the checkout is not that of the version.
func (r *release) tagged(ctx context.Context) error {
	if err := checkVersion(r.version); err != nil {
		return err
	}
	changed, err := r.command(ctx, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the checkout has changes that are not committed:\n%s", changed)
	}
	tags, err := r.command(ctx, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	for tag := range strings.FieldsSeq(tags) {
		if tag == r.version {
			return nil
		}
	}
	return fmt.Errorf("the checkout is not at the tag %s: check it out, or make the tag first", r.version)
}

// make makes all of it.
func (r *release) make(ctx context.Context) error {
	if _, err := os.Stat(r.dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already: remove it, or give another -dir", r.dir)
	}
	if err := r.leavesCheckoutClean(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	at, err := r.committed(ctx)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range r.platforms {
		files, err := r.publish(ctx, p, at)
		if err != nil {
			return fmt.Errorf("make foldql for %s/%s: %w", p.os, p.arch, err)
		}
		for _, name := range files {
			content, err := os.ReadFile(filepath.Join(r.dir, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name) // as sha256sum --check reads it
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// leavesCheckoutClean returns an error where the files that are made count as changes of the checkout: Go would mark
// the binaries after the first as made from changed files.
func (r *release) leavesCheckoutClean(ctx context.Context) error {
	source, err := filepath.Abs(r.source)
	if err != nil {
		return err
	}
	inside, err := filepath.Rel(source, r.path(""))
	if err != nil || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
		return nil // it is elsewhere
	}
	if _, err := r.command(ctx, "git", "check-ignore", "--quiet", inside+"/"); err != nil {
		return fmt.Errorf("%s is in the checkout, and git does not ignore it: give a -dir elsewhere", r.dir)
	}
	return nil
}

// committed is when the checkout was committed: what is made bears that time.
func (r *release) committed(ctx context.Context) (time.Time, error) {
	text, err := r.command(ctx, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// publish makes the archive of a platform and the list of what is in it, and returns their names.
func (r *release) publish(ctx context.Context, p platform, at time.Time) (names []string, err error) {
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	binary := filepath.Join(work, p.binary())
	if err := r.build(ctx, p, binary); err != nil {
		return nil, err
	}
	if err := r.says(binary); err != nil {
		return nil, err
	}
	list := p.name(r.version) + ".cdx.json"
	if _, err := r.command(ctx, "go", "run", sbom, "bin", "-json", "-noserial", "-notimestamp", "-std", "-version",
		r.version, "-output", r.path(list), binary); err != nil {
		return nil, err
	}
	if err := withoutTool(r.path(list)); err != nil {
		return nil, err
	}
	archive, err := pack(r.path(p.name(r.version)), p, at, []string{binary, filepath.Join(r.source, "LICENSE"),
		filepath.Join(r.source, "README.md")})
	return []string{archive, list}, err
}

// withoutTool takes out of a list what made it: the hashes of that program differ from one machine to another.
func withoutTool(list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no metadata", list)
	}
	delete(metadata, "tools")
	if text, err = json.MarshalIndent(content, "", "  "); err != nil {
		return err
	}
	return os.WriteFile(list, append(text, '\n'), 0o644)
}

// path is the absolute path of a file that is made.
func (r *release) path(name string) string {
	path, err := filepath.Abs(filepath.Join(r.dir, name))
	if err != nil {
		return filepath.Join(r.dir, name) // the working directory is gone; the next write says so
	}
	return path
}

// build compiles the command: static, and the same on every machine, of the modules in go.mod even where the checkout
// is in a workspace. It knows its version by the tag.
func (r *release) build(ctx context.Context, p platform, to string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -buildid=",
		"-o", to, "./cmd/foldql")
	c.Dir = r.source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOENV=off", "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	return failed(c.CombinedOutput())
}

// command runs a command in the checkout, and returns what it prints.
func (r *release) command(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = r.source
	out, err := c.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			out = exit.Stderr
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), failed(out, err))
	}
	return string(out), nil
}

// failed is the error of a command, with what it has printed.
func failed(out []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\n%s", err, out)
}
