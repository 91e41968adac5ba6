package middleware

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequestsThatAreRefusedForAFullDiskFillNoLog: it is logged once that the disk is full, which the log may be on.
func TestRequestsThatAreRefusedForAFullDiskFillNoLog(t *testing.T) {
	for status, logged := range map[int]bool{
		http.StatusInternalServerError: true, http.StatusServiceUnavailable: false, http.StatusInsufficientStorage: false,
	} {
		var text strings.Builder
		LogRequests(slog.New(slog.NewTextHandler(&text, nil)), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/events", nil))
		if (text.Len() > 0) != logged {
			t.Errorf("%d: logged %q, want a line: %t", status, text.String(), logged)
		}
	}
}
