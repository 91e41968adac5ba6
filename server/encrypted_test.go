package server

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/foldql/foldql/internal/tests/selfsigned"
)

// encrypting is a proxy that answers by encrypted connections for a server that has none, as in front of most.
type encrypting struct {
	ca  string // file of the certificate that it shows
	key string
	to  *url.URL
	*httptest.Server
}

func encrypt(t *testing.T, to string) *encrypting {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &encrypting{to: u}
	p.ca, p.key = selfsigned.Certificate(t)
	p.start(t, "127.0.0.1:0")
	t.Cleanup(func() { p.Close() })
	return p
}

func (p *encrypting) start(t *testing.T, address string) {
	t.Helper()
	own, err := tls.LoadX509KeyPair(p.ca, p.key)
	if err != nil {
		t.Fatal(err)
	}
	at, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.Server = httptest.NewUnstartedServer(&httputil.ReverseProxy{ErrorLog: quiet,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(p.to) }})
	p.Listener.Close() // which the package has chosen
	p.Listener, p.Config.ErrorLog = at, quiet
	p.TLS = &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	p.StartTLS()
}

// leave has nothing answer at the address until the proxy is started again.
func (p *encrypting) leave() {
	p.CloseClientConnections()
	p.Close()
}

// TestTheLogOfAnotherServerIsCopiedByEncryptedConnections, folded while that one is away, and followed when it is back.
func TestTheLogOfAnotherServerIsCopiedByEncryptedConnections(t *testing.T) {
	app := newProject(false).App
	first := newUpstream(t, app)
	first.add(t, slices.Collect(taskEvents(1, 30)))
	proxy := encrypt(t, first.url)
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--store", "embedded:" + data, "--cache-mb", "8", "--events", proxy.URL,
		"--events-token", upstreamToken, "--mirror"}
	plain := args[:len(args)-1] // which asks that server at the start
	unknown := runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0"}, plain...)})
	unknown.wantExit(t, exitFailed, "unknown authority")

	args = append(args, "--events-ca", proxy.ca)
	s := serve(t, app, start{args: args})
	s.until(t, "folded", hasTask(t, s, 30))
	s.end(t)
	withoutRows(t, data)
	proxy.leave()
	s = serve(t, app, start{args: args})
	s.until(t, "folded from the copy", hasTask(t, s, 30))
	s.until(t, "stalled", says(t, s, `"state":"stalled"`))

	first.add(t, slices.Collect(taskEvents(31, 5)))
	proxy.start(t, proxy.Listener.Addr().String())
	s.until(t, "following", hasTask(t, s, 35))
	s.ready(t)
}

// TestCertificatesAreForEncryptedConnections: where there is none, they are refused, so that nobody trusts in them.
func TestCertificatesAreForEncryptedConnections(t *testing.T) {
	cert, _ := selfsigned.Certificate(t)
	for _, events := range []string{"log:", "http://127.0.0.1:1", "file:events.jsonl"} {
		args := append([]string{"serve", "--events", events, "--events-ca", cert}, embedded(t)...)
		runProgram(t, newProject(false).App, start{args: args}).wantExit(t, exitUsage, "leave events-ca")
	}
	args := append([]string{"serve", "--events", "https://127.0.0.1:1", "--events-ca", "/none"}, embedded(t)...)
	runProgram(t, newProject(false).App, start{args: args}).wantExit(t, exitUsage, "read the certificates")
}
