package tutorial

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/markdown"
)

const (
	documented = "http://127.0.0.1:8080" // where the tutorial has the server listen
	within     = 4 * time.Minute         // what one block may take, on a busy machine with nothing compiled
	endOfBlock = "--- the block has ended ---"
)

// reader follows the tutorial: it has a shell, a server, and the answer to what it has asked last.
type reader struct {
	t      *testing.T
	shell  io.Writer
	output *bufio.Reader // of the shell
	stderr *bytes.Buffer

	url       string        // of the server that runs
	generated chan struct{} // has a value each time that the code was generated
	stop      func()
	answer    func() string // asks again what was asked last
	token     string        // the last nextToken
}

// newReader starts a shell in an empty folder. Variables of the tutorial's own come from the test.
func newReader(t *testing.T) *reader {
	t.Helper()
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	t.Setenv("FOLDQL", checkout)
	t.Setenv("GOBIN", bin)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"))

	cmd := exec.Command("bash", "-euo", "pipefail")
	cmd.Dir = t.TempDir()
	r := &reader{t: t, stderr: new(bytes.Buffer), stop: func() {}}
	cmd.Stderr = r.stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.shell, r.output = in, bufio.NewReader(out)
	t.Cleanup(func() {
		r.stop()
		_ = in.Close() // ends the shell
		_ = cmd.Wait() // a block that failed has been reported
	})
	return r
}

// run executes commands in the shell, whose folder, variables and functions stay, and returns what they print.
func (r *reader) run(commands string) string {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.shell, "{\n%s\n} </dev/null\necho '%s'\n", commands, endOfBlock); err != nil {
		r.t.Fatal(err)
	}
	var printed strings.Builder
	for {
		line, err := r.output.ReadString('\n')
		if before, ended := strings.CutSuffix(line, endOfBlock+"\n"); ended {
			return printed.String() + before
		}
		printed.WriteString(line)
		if err != nil {
			r.t.Fatalf("%s\nfailed: %v\n%s%s", commands, err, printed.String(), r.stderr)
		}
	}
}

// execute does what a block and the sentence before it say.
func (r *reader) execute(b markdown.Block) {
	r.t.Helper()
	verb, name := b.File()
	switch {
	case verb != "":
		r.edit(b, verb, name)
	case b.Language == "sh" && strings.HasSuffix(b.Text, "foldql dev\n"):
		r.develop(b.Text)
	case b.Language == "sh":
		commands := strings.ReplaceAll(b.Text, documented, r.url)
		printed := r.run(commands)
		r.answer = func() string {
			defer func() { printed = "" }()
			if printed != "" {
				return printed
			}
			return r.run(commands)
		}
	case b.Language == "graphql" && strings.Contains(strings.ToLower(b.Intro), "ask"):
		query := strings.ReplaceAll(b.Text, `"…"`, `"`+r.token+`"`)
		r.answer = func() string { return ask(r.t, r.url, query) }
	case b.Language == "json" && b.Intro == "The answer:":
		r.compare(b)
	default:
		r.t.Fatalf("%v: nothing says how to execute this block", b)
	}
}

// edit writes, extends or changes a file of the project.
func (r *reader) edit(b markdown.Block, verb, name string) {
	r.t.Helper()
	path := filepath.Join(strings.TrimSpace(r.run("pwd")), filepath.FromSlash(name))
	text := b.Text
	if verb != "Write" {
		before, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatalf("%v: %v", b, err)
		}
		text = string(before) + "\n" + b.Text
		if verb == "Change" {
			if text, err = patch(string(before), b.Text); err != nil {
				r.t.Fatalf("%v: %v", b, err)
			}
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatalf("%v: %v", b, err)
	}
	if strings.HasSuffix(name, ".graphqls") {
		select { // the blocks that follow need the generated code
		case <-r.generated:
		case <-time.After(within):
			r.t.Fatalf("%v: foldql dev does not generate the code", b)
		}
	}
}

// develop stops foldql dev, and starts it again in a terminal of its own, on a free port. It returns when it serves.
func (r *reader) develop(commands string) {
	r.t.Helper()
	r.stop()
	cmd := exec.Command("bash", "-euc", strings.TrimSpace(commands)+" --listen 127.0.0.1:0")
	cmd.Dir = strings.TrimSpace(r.run("pwd"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	serving, told := make(chan string, 1), make(chan string, 1)
	r.generated = make(chan struct{}, 100)
	go follow(log, serving, r.generated, told)
	r.stop = func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // as Ctrl-C does; it may have ended
		hung := time.AfterFunc(within, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer hung.Stop()
		all := <-told  // it has closed its log
		_ = cmd.Wait() // the signal
		if r.t.Failed() {
			r.t.Logf("%s\n%s", commands, all)
		}
		r.stop = func() {}
	}
	select {
	case r.url = <-serving:
	case all := <-told:
		told <- all
		r.t.Fatalf("%s ended before it served", commands)
	}
	r.run("export FOLDQL_URL=" + r.url)
	for len(r.generated) > 0 {
		<-r.generated
	}
}

// follow reads what foldql dev tells, until it ends: where it serves, each time that it has generated the code, and
// then all of it.
func follow(log io.Reader, serving chan<- string, generated chan<- struct{}, told chan<- string) {
	var all strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&all, line)
		if url, serves := strings.CutPrefix(line, "foldql dev: serving at "); serves {
			select {
			case serving <- url:
			default: // known
			}
		}
		if strings.HasPrefix(line, "foldql dev: generated in ") {
			generated <- struct{}{}
		}
	}
	told <- all.String()
}

// compare waits until the answer is the one of the block: rows follow their events, and servers what was saved, a
// moment later.
func (r *reader) compare(b markdown.Block) {
	r.t.Helper()
	var want any
	if err := json.Unmarshal([]byte(b.Text), &want); err != nil {
		r.t.Fatalf("%v: %v", b, err)
	}
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		answer := r.answer()
		var got any
		err := json.Unmarshal([]byte(answer), &got)
		if err == nil && r.same(got, want) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%v: the answer is\n%s\n%v", b, answer, err)
		}
	}
}

// same compares JSON. Three dots stand for any text, which is the next page token.
func (r *reader) same(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(want) {
			return false
		}
		for name, value := range want {
			if field, has := g[name]; !has || !r.same(field, value) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return false
		}
		for i, value := range want {
			if !r.same(g[i], value) {
				return false
			}
		}
		return true
	}
	if token, isText := got.(string); want == "…" && isText && token != "" {
		r.token = token
		return true
	}
	return got == want
}

func ask(t *testing.T, url, query string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/graphql", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// patch changes a text as the lines of a diff say, which must fit in one place.
func patch(text, diff string) (string, error) {
	var before, after strings.Builder
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		default:
			return "", fmt.Errorf("a line of a diff begins with -, + or a space: %q", line)
		}
	}
	if n := strings.Count(text, before.String()); n != 1 {
		return "", fmt.Errorf("the text has these lines %d times:\n%s", n, before.String())
	}
	return strings.Replace(text, before.String(), after.String(), 1), nil
}
