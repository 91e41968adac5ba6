package natssource_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
	"github.com/foldql/foldql/internal/tests/selfsigned"
)

// TestASecretOpensTheServerAndIsNeverSaid: a user and its password, or a token.
func TestASecretOpensTheServerAndIsNeverSaid(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*server.Options)
		client nats.Option
		right  natssource.Options
		wrong  natssource.Options
	}{
		"user": {func(o *server.Options) { o.Username, o.Password = "reader", "sesame" }, nats.UserInfo("reader", "sesame"),
			natssource.Options{User: "reader", Password: "sesame"}, natssource.Options{User: "reader", Password: "guess"}},
		"token": {func(o *server.Options) { o.Authorization = "sesame" }, nats.Token("sesame"),
			natssource.Options{Token: "sesame"}, natssource.Options{Token: "guess"}},
	} {
		s := natsserver.Start(t, c.set)
		p := &place{server: s, js: s.Client(t, c.client)}
		p.create(t, nil)
		p.add(t, sourcetest.Events(3))
		c.right.URL, c.wrong.URL = p.url(), p.url()
		if n, err := count(t, c.right); err != nil || n != 3 {
			t.Errorf("%s: %d events, %v", name, n, err)
		}
		for _, o := range []natssource.Options{c.wrong, {URL: p.url()}} {
			err := refusal(t, o)
			if err == nil || !strings.Contains(err.Error(), "uthorization") || strings.Contains(err.Error(), "guess") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// refusal is why a server does not let a source read. Before the client has heard of it, all that a source can say is
// that there is no connection.
func refusal(t *testing.T, o natssource.Options) error {
	t.Helper()
	s, err := natssource.Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		_, err = s.Read(t.Context(), streamName, 0, 10)
		if err == nil || !strings.Contains(err.Error(), "no server answers") {
			break
		}
	}
	return err
}

// count reads the events of a stream once.
func count(t *testing.T, o natssource.Options) (int, error) {
	t.Helper()
	s, err := natssource.Open(o)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	events, err := s.Read(t.Context(), streamName, 0, 10)
	return len(events), err
}

// TestTheServerIsKnownByItsCertificate, and the source by its own where the server asks for that.
func TestTheServerIsKnownByItsCertificate(t *testing.T) {
	cert, key := selfsigned.Certificate(t)
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	text, err := os.ReadFile(cert)
	if err != nil || !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate", err)
	}
	s := natsserver.Start(t, func(o *server.Options) {
		o.TLS, o.TLSVerify, o.TLSTimeout = true, true, 5
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	})
	p := &place{server: s, js: s.Client(t, nats.RootCAs(cert), nats.ClientCert(cert, key))}
	p.create(t, nil)
	p.add(t, sourcetest.Events(3))
	url := "tls://" + s.Address() + "/" + streamName
	if n, err := count(t, natssource.Options{URL: url, CA: cert, Cert: cert, Key: key}); err != nil || n != 3 {
		t.Errorf("%d events, %v", n, err)
	}
	for name, o := range map[string]natssource.Options{
		"unknown authority": {URL: url, Cert: cert, Key: key},
		"not connected":     {URL: url, CA: cert},
	} {
		s, err := natssource.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for said := time.Now(); err == nil || !strings.Contains(err.Error(), name); {
			if _, err = s.Read(t.Context(), streamName, 0, 1); err == nil || time.Since(said) > time.Minute {
				t.Fatalf("%s: %v", name, err)
			}
		}
		s.Close()
	}
}
