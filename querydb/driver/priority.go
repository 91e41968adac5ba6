package driver

import "context"

type backgroundKey struct{}

// InBackground returns a context whose requests nobody waits for, now or soon: a driver lets requests of others
// through before them.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsInBackground reports whether the context is one of InBackground.
func IsInBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }
