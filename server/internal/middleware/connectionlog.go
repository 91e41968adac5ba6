package middleware

import (
	"bytes"
	"context"
	"log/slog"
)

// ConnectionLog logs errors of the listener and its connections. Clients that break off are everyday life;
// a connection that cannot be accepted is not: the process has no file descriptors left.
type ConnectionLog struct{ Log *slog.Logger }

// Write implements io.Writer.
func (c ConnectionLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelError
	}
	c.Log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
