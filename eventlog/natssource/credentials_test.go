package natssource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/sourcetest"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// account is one of a NATS server whose users are known by what the account's key has signed.
type account struct {
	pair nkeys.KeyPair
	dir  string
}

func newPair(t *testing.T, create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, name string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if name, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return pair, name
}

// trust has a server know the account by its operator, and another as that of the system.
func (a *account) trust(t *testing.T, o *server.Options, system *account) {
	t.Helper()
	operator, name := newPair(t, nkeys.CreateOperator)
	claims := jwt.NewOperatorClaims(name)
	if _, err := claims.Encode(operator); err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	for _, one := range []*account{a, system} {
		own, err := one.pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		about := jwt.NewAccountClaims(own)
		if one == a {
			about.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		} else {
			o.SystemAccount = own
		}
		signed, err := about.Encode(operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(own, signed); err != nil {
			t.Fatal(err)
		}
	}
	o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{claims}, resolver
}

// user makes a user of the account, and returns the file of its credentials.
func (a *account) user(t *testing.T, name string) (file string) {
	t.Helper()
	user, public := newPair(t, nkeys.CreateUser)
	signed, err := jwt.NewUserClaims(public).Encode(a.pair)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(signed, seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(a.dir, name+".creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAFileOfCredentialsOpensTheServer that trusts who has signed it, and its secrets are never said.
func TestAFileOfCredentialsOpensTheServer(t *testing.T) {
	accounts := make([]*account, 3)
	for i := range accounts {
		pair, _ := newPair(t, nkeys.CreateAccount)
		accounts[i] = &account{pair, t.TempDir()}
	}
	a, foreign := accounts[0], accounts[1]
	s := natsserver.Start(t, func(o *server.Options) { a.trust(t, o, accounts[2]) })
	reader, stranger := a.user(t, "reader"), foreign.user(t, "stranger")
	p := &place{server: s, js: s.Client(t, nats.UserCredentials(reader))}
	p.create(t, nil)
	p.add(t, sourcetest.Events(3))
	if n, err := count(t, natssource.Options{URL: p.url(), Credentials: reader}); err != nil || n != 3 {
		t.Errorf("%d events, %v", n, err)
	}
	text, err := os.ReadFile(stranger)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{stranger: "uthorization", filepath.Join(a.dir, "none.creds"): "none.creds"} {
		err := refusal(t, natssource.Options{URL: p.url(), Credentials: file})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%s: %v, want %q", file, err, want)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); len(line) > 40 && strings.Contains(err.Error(), line) {
				t.Errorf("%s: the error has a secret", file)
			}
		}
	}
}
