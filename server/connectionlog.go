package server

import (
	"bytes"
	"context"
	"log/slog"
)

// connectionLog hands on what the listener and its connections have to tell. Clients that break off are everyday life; a
// connection that cannot be accepted is not: the process has no file descriptors left.
type connectionLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (c connectionLog) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelError
	}
	c.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
