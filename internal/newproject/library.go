package newproject

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

const libraryPath = "github.com/foldql/foldql"

// Library is where a project has the library from.
type Library struct {
	// Checkout is a folder with the library's source, which the project's go.mod then points at.
	Checkout string
	// Version is the released version to require, where there is no Checkout.
	Version string
}

// moduleFiles makes go.mod and go.sum of a project. The versions are those that the library itself is tested with, so
// that the project builds at once.
func (l Library) moduleFiles(modulePath string) (mod, sum []byte, err error) {
	source, err := l.source()
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(source.Dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read the versions that the library needs: %w", err)
	}
	its, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read the versions that the library needs: %w", err)
	}
	if its.Module == nil || its.Module.Mod.Path != libraryPath {
		return nil, nil, fmt.Errorf("%s is not of the module %s: give a checkout of it with --replace", name, libraryPath)
	}
	if mod, err = l.goMod(modulePath, source.Dir, its); err != nil {
		return nil, nil, err
	}
	sum, err = os.ReadFile(filepath.Join(source.Dir, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the sums of what the library needs: %w", err)
	}
	return mod, append(sum, source.sums(l.Version)...), nil
}

// goMod writes go.mod; its are the requirements of the library.
func (l Library) goMod(modulePath, dir string, its *modfile.File) ([]byte, error) {
	version := l.Version
	if l.Checkout != "" {
		version = "v0.0.0"
	}
	var f modfile.File
	errs := []error{f.AddModuleStmt(modulePath), f.AddGoStmt(its.Go.Version), f.AddRequire(libraryPath, version)}
	for _, r := range its.Require {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	errs = append(errs, f.AddTool(libraryPath+"/cmd/foldql"))
	if l.Checkout != "" {
		errs = append(errs, f.AddReplace(libraryPath, "", dir, ""))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("write go.mod: %w", err)
	}
	f.SetRequireSeparateIndirect(f.Require)
	f.Cleanup()
	return f.Format()
}

// source is the library's source on this machine; the sums are those of a released version.
type source struct {
	Dir, Sum, GoModSum, Error string
}

// source finds the library's source, or has the go command fetch it.
func (l Library) source() (source, error) {
	if l.Checkout != "" {
		dir, err := filepath.Abs(l.Checkout)
		if err != nil {
			return source{}, fmt.Errorf("find the checkout of the library: %w", err)
		}
		return source{Dir: dir}, nil
	}
	if l.Version == "" {
		return source{}, errors.New("this foldql was built from a checkout, so that there is no version for the project " +
			"to require: " +
			"point the project at the checkout with --replace PATH, or install a released version with " +
			"go install " + libraryPath + "/cmd/foldql@latest")
	}
	download := exec.Command("go", "mod", "download", "-json", libraryPath+"@"+l.Version)
	download.Dir = os.TempDir() // a module that is here may replace the library
	out, err := download.Output()
	var s source
	if jsonErr := json.Unmarshal(out, &s); jsonErr == nil && s.Error != "" {
		err = errors.New(s.Error)
	} else if err == nil {
		err = jsonErr
	}
	if err != nil {
		return source{}, fmt.Errorf("fetch the library: %w: point the project at a checkout with --replace", err)
	}
	return s, nil
}

// sums are the lines of go.sum for the library itself.
func (s source) sums(version string) string {
	if s.Sum == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", libraryPath, version, s.Sum, libraryPath, version, s.GoModSum)
}
