package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAnotherServersAnswerIsNoEmptyList: a command at an address where something else answers says so.
func TestAnotherServersAnswerIsNoEmptyList(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"ok"}`)
	}))
	defer other.Close()
	app := newProject(false).App
	for _, args := range [][]string{
		{"deadletters", "list"}, {"deadletters", "skip", "Task", "--all"}, {"deadletters", "retry-cascades", "Task"},
		{"rebuild", "status"}, {"events", "search"},
	} {
		c := runProgram(t, app, start{args: append(args, "--url", other.URL)})
		c.wantExit(t, exitFailed, "is a foldql server there?")
	}
}
