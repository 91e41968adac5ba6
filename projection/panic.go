package projection

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// panicError is a panic, of a projector or of the engine, as an error: what and where first, then the stack.
type panicError struct {
	value any
	where string
	stack []byte
	// inWrite: a store was writing a batch, of which nobody knows now how much it has written.
	inWrite bool
}

func (e *panicError) Error() string {
	return fmt.Sprintf("panic: %v at %s\n%s", e.value, e.where, e.stack)
}

// recovered turns a panic into an error. It is deferred itself.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = panicked(v)
	}
}

// panicked makes the error of a panic whose value the caller, a deferred function, has recovered.
func panicked(v any) *panicError {
	if e, again := v.(*panicError); again { // of another goroutine
		return e
	}
	return &panicError{value: v, where: panicPlace(), stack: debug.Stack()}
}

// panicPlace is the function, file and line that has panicked, below what the runtime and this file do about it.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	below := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			below = true
		case below && !strings.HasPrefix(f.Function, "runtime."):
			return fmt.Sprintf("%s:%d (%s)", f.File, f.Line, f.Function)
		}
		if !more {
			return "an unknown place"
		}
	}
}
