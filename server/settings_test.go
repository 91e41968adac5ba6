package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse reads a command line, an environment and a file, and returns what came of them.
func parse(t *testing.T, args []string, env map[string]string, file string) (*commandLine, *call, bool) {
	t.Helper()
	if env == nil {
		env = map[string]string{}
	}
	if file != "" {
		path := filepath.Join(t.TempDir(), "foldql.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		env["FOLDQL_CONFIG"] = path
	}
	c, got := &commandLine{}, &call{}
	command, code := start{args: args, env: env}.program(App{}, got).parse(c)
	got.code = code
	return c, got, command != nil
}

func TestFlagBeatsVariableBeatsFileBeatsDefault(t *testing.T) {
	file := "listen: 127.0.0.1:3\nmax-depth: 3\nsample: true\nplayground: false\njwt-audience: [a, \"b\"]\ntimeout: " +
		"3s\nlog-level: warn\n"
	env := map[string]string{"FOLDQL_LISTEN": "127.0.0.1:2", "FOLDQL_MAX_DEPTH": "2", "FOLDQL_JWT_ISSUER": "me"}
	c, said, ok := parse(t, []string{"serve", "--listen", "127.0.0.1:1"}, env, file)
	if !ok {
		t.Fatal(&said.stderr)
	}
	type picked struct {
		Listen, Issuer, Store, Level      string
		Depth, Tokens                     int
		Sample, Playground, Introspection bool
		Audience                          []string
		Timeout                           time.Duration
	}
	s := &c.Serve
	got := picked{
		s.Listen, s.JWTIssuer, s.Store, c.LogLevel, s.MaxDepth, s.MaxTokens, s.Sample, s.Playground, s.Introspection,
		s.JWTAudience, s.Timeout,
	}
	want := picked{
		"127.0.0.1:1", "me", "embedded:./data", "warn", 2, 5000, true, false, true, []string{"a", "b"}, 3 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestFileMayBeNamedByAFlag(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("listen: 127.0.0.1:9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--config", path, "serve"}, {"serve", "--config=" + path}} {
		c, said, ok := parse(t, args, nil, "")
		if !ok || c.Serve.Listen != "127.0.0.1:9" {
			t.Errorf("%v: listen %q: %s", args, c.Serve.Listen, &said.stderr)
		}
	}
}

// TestNoDocumentOfTheFileIsPassedOver: a file with several is refused, whichever of them has the keys.
func TestNoDocumentOfTheFileIsPassedOver(t *testing.T) {
	for file, line := range map[string]string{
		"listen: a\n---\nstore: b\n":             "line 3",
		"---\n# empty\n---\nlisten: hunter2\n":   "line 4",
		"listen: a\n...\nstore: hunter2\n":       "line 3",
		"%YAML 1.2\n---\nlisten: a\n---\nb: c\n": "line 5",
		"listen: a\n...\n%YAML 1.2\n---\nb: c\n": "line 5",
	} {
		_, said, ok := parse(t, []string{"serve"}, nil, file)
		if text := said.stderr.String(); ok || !strings.Contains(text, line+" is in another YAML document: put all keys "+
			"into one") || strings.Contains(text, "hunter2") {
			t.Errorf("%q: accepted %t, said %q, want it to name %s", file, ok, text, line)
		}
	}
	for _, file := range []string{
		"# ours\n---\nlisten: 127.0.0.1:9\n...\n", "listen: 127.0.0.1:9\n---\n# nothing\n",
		"--- {listen: 127.0.0.1:9}\n", "%YAML 1.2\n---\nlisten: 127.0.0.1:9\n",
		"# ours\n%YAML 1.2\n--- # of the server\nlisten: 127.0.0.1:9\n",
	} {
		if c, said, ok := parse(t, []string{"serve"}, nil, file); !ok || c.Serve.Listen != "127.0.0.1:9" {
			t.Errorf("%q: listen %q: %s", file, c.Serve.Listen, &said.stderr)
		}
	}
}

func TestOneFileServesSeveralCommands(t *testing.T) {
	c, said, ok := parse(t, []string{"replay"}, nil, "listen: 127.0.0.1:9\nstore: 'memory:'\n")
	if !ok || c.Replay.Store != "memory:" {
		t.Errorf("store %q: %s", c.Replay.Store, &said.stderr)
	}
}

// TestTextsOfAFileAreTakenAsTheyAreWritten, and numbers as YAML reads them: a token of digits is no octal number.
func TestTextsOfAFileAreTakenAsTheyAreWritten(t *testing.T) {
	for written, want := range map[string]string{
		"00123456": "00123456", "0x1F": "0x1F", "1_000_000": "1_000_000", "1.10": "1.10", "True": "True",
		"&secret 007": "007", "!!str 007": "007", "'0x1F'": "0x1F", "12345 # mine": "12345", ".inf": ".inf", "1e5": "1e5",
	} {
		file := "write-token: " + written + "\njwt-audience: [" + strings.TrimSuffix(written, " # mine") + ", 010]\n" +
			"max-depth: 0x10\nplayground: false\n"
		c, said, ok := parse(t, []string{"serve"}, nil, file)
		if !ok {
			t.Fatalf("%s: %s", written, &said.stderr)
		}
		s := &c.Serve
		if s.WriteToken != want || !slices.Equal(s.JWTAudience, []string{want, "010"}) || s.MaxDepth != 16 || s.Playground {
			t.Errorf("%s: token %q, audience %q, depth %d", written, s.WriteToken, s.JWTAudience, s.MaxDepth)
		}
	}
	c, said, ok := parse(t, []string{"serve"}, nil, "write-token: &one 007\njwt-issuer: *one\njwt-audience: [*one]\n")
	s := &c.Serve
	if !ok || s.WriteToken != "007" || s.JWTIssuer != "007" || !slices.Equal(s.JWTAudience, []string{"007"}) {
		t.Errorf("by aliases: %q, %q, %q: %s", s.WriteToken, s.JWTIssuer, s.JWTAudience, &said.stderr)
	}
}

// TestASecretOnTheCommandLineBeatsItsFileInTheEnvironment, and so on: the two flags of a secret are one.
func TestASecretOnTheCommandLineBeatsItsFileInTheEnvironment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("of-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type env map[string]string
	const inVariable, inVariableFile = "FOLDQL_WRITE_TOKEN", "FOLDQL_WRITE_TOKEN_FILE"
	flag, flagFile := []string{"--write-token", "f"}, []string{"--write-token-file", path}
	for name, tc := range map[string]struct {
		args []string
		env  env
		file string
		want string // "" where it is given twice
	}{
		"a file beats the variable":          {flagFile, env{inVariable: "v"}, "", "of-a-file"},
		"a flag beats a file by a variable":  {flag, env{inVariableFile: path}, "", "f"},
		"a flag beats the configuration":     {flag, nil, "write-token-file: " + path, "f"},
		"a variable beats the configuration": {nil, env{inVariable: "v"}, "write-token-file: " + path, "v"},
		"a file by a variable beats it too":  {nil, env{inVariableFile: path}, "write-token: c", "of-a-file"},
		"a flag beats both":                  {flag, env{inVariableFile: path}, "write-token: c", "f"},
		"an empty variable gives nothing":    {nil, env{inVariable: ""}, "write-token-file: " + path, "of-a-file"},
		"an empty flag gives nothing":        {[]string{"--write-token="}, env{inVariableFile: path}, "", "of-a-file"},
		"both on the command line":           {slices.Concat(flag, flagFile), nil, "", ""},
		"both in the environment":            {nil, env{inVariable: "v", inVariableFile: path}, "", ""},
		"both in the configuration":          {nil, nil, "write-token: c\nwrite-token-file: " + path, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, said, ok := parse(t, append([]string{"serve"}, tc.args...), tc.env, tc.file)
			if !ok {
				t.Fatal(&said.stderr)
			}
			got, err := c.Serve.WriteAuth.Get()
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("token %q, error %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestAFileMaySetNothing(t *testing.T) {
	for _, file := range []string{"\n", "# nothing\n", "{}\n", "---\n", "# nothing\n---\n# nothing\n"} {
		if _, said, ok := parse(t, []string{"serve"}, nil, file); !ok {
			t.Errorf("%q: %s", file, &said.stderr)
		}
	}
}

func TestMistakesInTheConfigurationNameTheirKey(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		env  map[string]string
		file string
		want []string
	}{
		{"unknown key", nil, nil, "lisen: 1\n", []string{"error: read the configuration", "lisen", "no such key"}},
		{"key without value", nil, nil, "listen:\n", []string{"listen", "no value"}},
		{"mapping", nil, nil, "jwt:\n  secret: hunter2\n", []string{"jwt", "no such key"}},
		{"mapping for a value", nil, nil, "listen:\n  port: 1\n", []string{"listen", "mapping"}},
		{"list of lists", nil, nil, "jwt-audience: [[a]]\n", []string{"jwt-audience", "plain values"}},
		{"key given twice", nil, nil, "listen: a\nlisten: b\n", []string{"listen"}},
		{"no YAML", nil, nil, "listen: [\n", []string{"foldql.yaml"}},
		{"list for a value", nil, nil, "listen: [a, b]\n", []string{"error: --listen: want one value, got a list\n"}},
		{"wrong type in the file", nil, nil, "max-depth: deep\n", []string{"max-depth"}},
		{"wrong type in a variable", nil, map[string]string{"FOLDQL_TIMEOUT": "long"}, "", []string{"timeout"}},
		{"no such choice", nil, map[string]string{"FOLDQL_AUTH": "maybe"}, "", []string{"auth", "on"}},
		{"no such file", nil, map[string]string{"FOLDQL_CONFIG": "/no/such/file"}, "",
			[]string{"error: read the configuration: open /no/such/file"}},
		{"no such file, by a flag", []string{"--config", "/no/such/file"}, nil, "",
			[]string{"error: read the configuration: open /no/such/file"}},
		{"unknown flag", []string{"--lisen", "1"}, nil, "", []string{"--lisen"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, said, ok := parse(t, append([]string{"serve"}, tc.args...), tc.env, tc.file)
			if ok || said.code != exitUsage {
				t.Fatalf("accepted, exit code %d", said.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(said.stderr.String(), want) {
					t.Errorf("said %q, want it to name %q", &said.stderr, want)
				}
			}
			if strings.Contains(said.stderr.String(), "hunter2") {
				t.Error("the message shows a secret of the file")
			}
		})
	}
}

func TestServerRefusesToStartWithWhatWouldNotWork(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secretFile, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"store", []string{"--store", "sql:x"}, "store: "},
		{"events", []string{"--events", "queue:x"}, "events: "},
		{"commit timeout", []string{"--store", "memory:", "--commit-timeout", "13h"}, "commit-timeout: "},
		{"ops", []string{"--store", "memory:", "--max-ops", "0"}, "max-ops: "},
		{"no share", []string{"--store", "memory:", "--max-dead-letters", "0"}, "max-dead-letters: "},
		{"too large a share", []string{"--store", "memory:", "--max-dead-letters", "101"}, "max-dead-letters: "},
		{"bytes of rows", []string{"--store", "memory:", "--max-row-bytes", "1000"}, "max-row-bytes: "},
		{"no items", []string{"--store", "memory:", "--max-aggregate", "0"}, "max-aggregate: 0 is out of bounds"},
		{"too many items", []string{"--store", "memory:", "--max-aggregate", "1001"}, "max-aggregate: 1001 is out of bounds"},
		{"window", []string{"--store", "memory:", "--window", "0"}, "window: "},
		{"cache", []string{"--store", "memory:", "--cache-mb", "0"}, "cache-mb: "},
		{"cache in bytes", []string{"--store", "memory:", "--cache-mb", "268435456"}, "cache-mb: "},
		{"rows from memory that are never out of date", []string{"--store", "memory:", "--row-cache-ttl", "1s"},
			"row-cache-ttl: it is for rows in DynamoDB"},
		{"rows from memory for ever", []string{"--store", "dynamodb:x", "--row-cache-ttl", "25h"}, "row-cache-ttl: "},
		{"options of a log", []string{"--store", "memory:", "--events", "log:?sync=off"}, "events: "},
		{"leeway", []string{"--store", "memory:", "--jwt-leeway", "10000h", "--jwt-secret", strings.Repeat("hunter2", 5)},
			"jwt-leeway: "},
		{"token that cannot be sent", []string{"--store", "memory:", "--write-token", "hunter2\nx"}, "write-token: "},
		{"memory", []string{"--store", "memory:", "--cache-mb", "64", "--memory-mb", "64"}, "memory-mb: "},
		{"limit", []string{"--max-depth", "0"}, "max-depth: "},
		{"drain", []string{"--drain-delay=-1s"}, "drain-delay"},
		{"origin", []string{"--cors-origins", "example.com"}, "cors-origins: "},
		{"origin with a path", []string{"--cors-origins", "https://example.com/"}, "cors-origins: "},
		{"header with a value", []string{"--cors-origins", "*", "--cors-headers", "traceparent: 0"}, "cors-headers: "},
		{"header that no page sends", []string{"--cors-headers", "traceparent"}, "cors-headers: "},
		{"everybody could write", []string{"--listen", "0.0.0.0:0"}, "write-token: "},
		{"everybody could write, by any name", []string{"--listen", ":0"}, "write-token: "},
		{"token twice", []string{"--write-token", "a", "--write-token-file", "b"}, "write-token: it is given twice"},
		{"token file that is not there", []string{"--write-token-file", "/no/such"}, "write-token-file: "},
		{"token file that is empty", []string{"--write-token-file", secretFile}, "is empty"},
		{"short secret", []string{"--jwt-secret", "hunter2"}, "needs 32"},
		{"sample into a file", []string{"--sample", "--store", "memory:", "--events", "file:x"}, "sample: "},
		{"no file of events", []string{"--store", "memory:", "--events", "file:/no/such"}, "/no/such"},
		{"no address", []string{"--store", "memory:", "--listen", "nonsense"}, "listen: address nonsense: missing port"},
		{"address in use or none", []string{"--store", "memory:", "--listen", "127.0.0.1:99999"}, "listen: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"serve"}, tc.args...)
			if !slices.Contains(args, "--listen") { // the usual port may be somebody's
				args = append(args, "--listen", "127.0.0.1:0")
			}
			c := runProgram(t, newProject(false).App, start{args: args})
			if c.code == exitDone || !strings.Contains(c.stderr.String(), tc.want) {
				t.Errorf("exit code %d, said %q, want %q", c.code, &c.stderr, tc.want)
			}
			if strings.Contains(c.stderr.String(), "hunter2") {
				t.Error("the message shows the secret")
			}
		})
	}
}

func TestUnknownVariablesAreRefused(t *testing.T) {
	for name, meant := range map[string]string{
		"FOLDQL_LISTN": "FOLDQL_LISTEN", "FOLDQL_WRITETOKEN": "FOLDQL_WRITE_TOKEN", "FOLDQL_CONFIGFILE": "FOLDQL_CONFIG",
		"FOLDQL_STORES": "FOLDQL_STORE",
	} {
		c := runProgram(t, App{}, start{args: []string{"version"}, env: map[string]string{name: "x"}})
		c.wantExit(t, exitUsage, name+": there is no such variable; is "+meant+" meant?")
	}
	others := map[string]string{"FOLDQ_LISTEN": "x", "foldql_listen": "x", "FOLDQL": "x",
		"FOLDQL_WRITE_TOKEN": "of another command"}
	runProgram(t, App{}, start{args: []string{"version"}, env: others}).wantExit(t, exitDone, "go1.")
}

// TestAServiceOfKubernetesMayBeCalledFoldql: what its name gives the variables of every pod is no mistake in an option.
func TestAServiceOfKubernetesMayBeCalledFoldql(t *testing.T) {
	env := map[string]string{"FOLDQL_SERVICE_HOST": "10.0.0.1", "FOLDQL_SERVICE_PORT": "80",
		"FOLDQL_SERVICE_PORT_HTTP_ADMIN": "80", "FOLDQL_PORT": "tcp://10.0.0.1:80"}
	for _, protocol := range []string{"TCP", "UDP", "SCTP"} {
		for _, part := range []string{"", "_PROTO", "_PORT", "_ADDR"} {
			env["FOLDQL_PORT_80_"+protocol+part] = "x"
		}
	}
	runProgram(t, App{}, start{args: []string{"version"}, env: env}).wantExit(t, exitDone, "go1.")
	for name, value := range map[string]string{
		"FOLDQL_PORT": "8080", "FOLDQL_SERVICE": "x", "FOLDQL_SERVICE_HOSTS": "x", "FOLDQL_PORT_80": "x",
		"FOLDQL_PORT_HTTP_TCP": "x", "FOLDQL_PORT_80_TCP_NAME": "x", "FOLDQL_ADMIN_SERVICE_HOST": "x",
	} {
		c := runProgram(t, App{}, start{args: []string{"version"}, env: map[string]string{name: value}})
		c.wantExit(t, exitUsage, name+": there is no such variable")
	}
}

func TestRulesWantAVerifier(t *testing.T) {
	app := newProject(true).App
	c := runProgram(t, app, start{args: []string{"serve", "--store", "memory:"}})
	c.wantExit(t, exitUsage, "--auth=off")
	s := serve(t, app, start{args: []string{"--store", "memory:", "--auth=off"}})
	if !strings.Contains(s.stderr.String(), "lets everybody read everything") {
		t.Errorf("no warning in the log:\n%s", &s.stderr)
	}
}

// TestOptionsForTokensAreNotIgnoredSilently: --auth=off overrides them, says so, and does not pass over mistakes in
// them.
func TestOptionsForTokensAreNotIgnoredSilently(t *testing.T) {
	args := []string{"--store", "memory:", "--auth=off", "--jwt-secret", strings.Repeat("hunter2", 5)}
	s := serve(t, newProject(true).App, start{args: args})
	if said := s.stderr.String(); !strings.Contains(said, "tokens are not verified") || strings.Contains(said, "hunter2") {
		t.Errorf("want a warning in the log that tokens are not verified, without the secret:\n%s", said)
	}
	c := runProgram(t, newProject(true).App, start{args: append([]string{"serve", "--jwt-leeway", "2h"}, args...)})
	c.wantExit(t, exitUsage, "jwt-leeway: ")
}

func TestHelpNamesFlagsAndVariables(t *testing.T) {
	c := runProgram(t, App{}, start{args: []string{"serve", "--help"}})
	for _, want := range []string{"--write-token", "$FOLDQL_WRITE_TOKEN", "--[no-]playground", "--store"} {
		c.wantExit(t, exitDone, want)
	}
}
