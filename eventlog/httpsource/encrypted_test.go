package httpsource_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/selfsigned"
)

// TestTheServerIsKnownByItsCertificate, and the source by its own where the server asks for that.
func TestTheServerIsKnownByItsCertificate(t *testing.T) {
	cert, key := selfsigned.Certificate(t)
	url := encrypted(t, cert, key)
	for name, c := range map[string]struct {
		o    httpsource.Options
		want string
	}{
		"both know each other":   {httpsource.Options{URL: url, CA: cert, Cert: cert, Key: key}, ""},
		"the server is unknown":  {httpsource.Options{URL: url, Cert: cert, Key: key}, "unknown authority"},
		"the source is nobody's": {httpsource.Options{URL: url, CA: cert}, "certificate required"},
	} {
		src, err := httpsource.Open(c.o)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		events, err := src.Read(t.Context(), "0", 0, 10)
		if c.want == "" && (err != nil || len(events) != 3) {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// encrypted is the address of a server that gives out three events, to those that show the certificate that it has
// itself.
func encrypted(t *testing.T, cert, key string) (url string) {
	t.Helper()
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(text)
	l := memlog.New(memlog.Options{})
	appendTo(t, l, sourcetest.Events(3))
	h := &httpsource.Handler{Source: l, Logger: slog.New(slog.DiscardHandler)}
	s := httptest.NewUnstartedServer(http.HandlerFunc(h.Events))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: known,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// TestWrongCertificatesAreRefusedBeforeAnythingIsAsked, and so are those that nobody would look at.
func TestWrongCertificatesAreRefusedBeforeAnythingIsAsked(t *testing.T) {
	cert, key := selfsigned.Certificate(t)
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "https://server"
	for _, c := range []struct {
		o    httpsource.Options
		want string
	}{
		{httpsource.Options{URL: url, CA: "/none"}, "read the certificates"},
		{httpsource.Options{URL: url, CA: empty}, "holds no certificate"},
		{httpsource.Options{URL: url, Cert: cert}, "give both"},
		{httpsource.Options{URL: url, Key: key}, "give both"},
		{httpsource.Options{URL: url, Cert: key, Key: key}, "read the certificate of the client"},
		{httpsource.Options{URL: "http://server", CA: cert}, "give one of https"},
		{httpsource.Options{URL: url, CA: cert, Client: http.DefaultClient}, "give one of them"},
	} {
		if src, err := httpsource.Open(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v, want %q", c.o, src, err, c.want)
		}
	}
}
