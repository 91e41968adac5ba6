package auth

import "context"

// Caller is who asks: the identity that a verified token carries.
type Caller struct {
	Subject string
	Groups  []string
}

type callerKey struct{}

// NewContext returns a context that carries the caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// FromContext returns the caller that the context carries; ok is false where nobody has been identified.
func FromContext(ctx context.Context) (c Caller, ok bool) {
	c, ok = ctx.Value(callerKey{}).(Caller)
	return c, ok
}
