package embeddedlog

import (
	"fmt"
	"log/slog"
)

// storeLogger hands what the key-value store tells to our log.
type storeLogger struct{ log *slog.Logger }

func (s storeLogger) Infof(format string, args ...any) { s.log.Debug(fmt.Sprintf(format, args...)) }

func (s storeLogger) Errorf(format string, args ...any) { s.log.Error(fmt.Sprintf(format, args...)) }

// Fatalf ends the program, as the store demands: it calls it when going on could damage what is stored.
func (s storeLogger) Fatalf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	s.log.Error(message)
	panic("event log: " + message)
}
