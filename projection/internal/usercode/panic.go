package usercode

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// PanicError is a panic, of a projector or of the engine, as an error: where and what first, then the stack.
type PanicError struct {
	value any
	where string
	stack []byte
	// InWrite: a store was writing a batch, of which nobody knows now how much it has written.
	InWrite bool
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: panic: %v\n%s", e.where, e.value, e.stack)
}

// Recovered turns a panic into an error. It is deferred itself.
func Recovered(err *error) {
	if v := recover(); v != nil {
		*err = Panicked(v)
	}
}

// Panicked makes the error of a panic whose value the caller, a deferred function, has recovered.
func Panicked(v any) *PanicError {
	if e, again := v.(*PanicError); again { // of another goroutine
		return e
	}
	return &PanicError{value: v, where: panicPlace(), stack: debug.Stack()}
}

// panicPlace is the file and line that has panicked: of the user's own code, whatever that has called, or else of
// whoever it was.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	place, goroot, below := "an unknown place", "", false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			goroot, below = strings.TrimSuffix(f.File, "runtime/panic.go"), true
		case !below || strings.HasPrefix(f.Function, "runtime."):
		case usersOwn(&f, goroot):
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		case place == "an unknown place":
			place = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return place
		}
	}
}

// usersOwn reports whether a frame is of neither the standard library nor foldql. Without paths, which -trimpath leaves
// out, a package of the standard library is one of no module that the program is built of.
func usersOwn(f *runtime.Frame, goroot string) bool {
	slash := strings.LastIndexByte(f.Function, '/') + 1
	dot := strings.IndexByte(f.Function[slash:], '.')
	if dot < 0 {
		return false
	}
	pkg := f.Function[:slash+dot]
	for _, engine := range engines {
		if pkg == engine || strings.HasPrefix(pkg, engine+"/") && engine != engines[0] {
			return false
		}
	}
	if goroot != "" {
		return !strings.HasPrefix(f.File, goroot)
	}
	first, _, _ := strings.Cut(pkg, "/")
	return pkg == "main" || strings.Contains(first, ".") || slices.ContainsFunc(modules(), func(m string) bool {
		return pkg == m || strings.HasPrefix(pkg, m+"/")
	})
}

// engines are the packages of ours that call users' code or are called by it, and what is in them; of the first, whose
// subfolders may be a user's, that package alone.
var engines = []string{
	"github.com/foldql/foldql/projection", "github.com/foldql/foldql/projection/internal",
	"github.com/foldql/foldql/projection/projectiontest",
	"github.com/foldql/foldql/querydb", "github.com/foldql/foldql/keys", "github.com/foldql/foldql/eventlog",
}

// modules are those that the program is built of.
var modules = sync.OnceValue(func() (paths []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	paths = append(paths, info.Main.Path)
	for _, d := range info.Deps {
		paths = append(paths, d.Path)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
})
