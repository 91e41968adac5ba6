package natssource

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog/internal/certs"
	"github.com/foldql/foldql/eventlog/payload"
)

// Options are how a Source is opened.
type Options struct {
	// URL is nats://HOST:PORT/STREAM, or tls:// where the connection must be encrypted; several servers of a cluster are
	// HOST:PORT,HOST:PORT.
	URL         string
	Token       string // one of the ways to log in, "" for none
	User        string // another, with Password
	Password    string
	Credentials string // file of credentials (.creds): the third
	CA          string // file of certificates that the server's is to be signed by, "" for those of the system
	Cert, Key   string // files of the certificate of this client, "" for none
	// AllowRemoval takes a stream as it is that may remove messages from its middle: see refusal.
	AllowRemoval  bool
	MaxEventBytes int           // of one event, cloudevents.DefaultMaxSize where 0; a larger one is malformed
	Timeout       time.Duration // of one request to the server, 10 s where 0
	// Mapping makes events of messages that do not say that they are CloudEvents, nil where all are.
	Mapping *payload.Mapping
}

// Parse takes the servers and the stream out of an address.
func Parse(text string) (servers []string, stream string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "nats" && u.Scheme != "tls", u.Host == "":
		return nil, "", errors.New("the address is none of NATS; write nats://HOST:PORT/STREAM")
	case u.User != nil:
		return nil, "", errors.New("the address has a user; give that apart")
	case strings.ContainsAny(text, "?#"):
		return nil, "", errors.New("the address has parameters; write nats://HOST:PORT/STREAM")
	}
	stream = strings.TrimPrefix(u.Path, "/")
	if stream == "" || strings.ContainsAny(stream, "/\\.*> \t\r\n") {
		return nil, "", fmt.Errorf("%q is no name of a stream; write nats://HOST:PORT/STREAM", stream)
	}
	for host := range strings.SplitSeq(u.Host, ",") {
		servers = append(servers, u.Scheme+"://"+host)
	}
	return servers, stream, nil
}

// connection are the options of the client. It is never given up: the server may come back at any time.
func (o *Options) connection() ([]nats.Option, error) {
	all := []nats.Option{
		nats.Name("foldql"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.Timeout(connectTimeout), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // whoever reads is told
	}
	ways := 0
	if o.Token != "" {
		ways++
		all = append(all, nats.Token(o.Token))
	}
	if o.User != "" {
		ways++
		all = append(all, nats.UserInfo(o.User, o.Password))
	}
	if o.Credentials != "" {
		ways++
		if _, err := os.Stat(o.Credentials); err != nil {
			return nil, fmt.Errorf("read the credentials: %w", err)
		}
		all = append(all, nats.UserCredentials(o.Credentials))
	}
	if ways > 1 {
		return nil, errors.New("a token, a user and a file of credentials are three ways to log in; give one")
	}
	if o.User == "" && o.Password != "" {
		return nil, errors.New("there is a password, and no user")
	}
	return o.encryption(all)
}

// encryption adds what the certificates say.
func (o *Options) encryption(all []nats.Option) ([]nats.Option, error) {
	c, err := certs.Files{CA: o.CA, Cert: o.Cert, Key: o.Key}.Config()
	if err != nil || c == nil {
		return all, err
	}
	return append(all, nats.Secure(c)), nil
}

const (
	reconnectWait  = 250 * time.Millisecond
	connectTimeout = 5 * time.Second
	pingEvery      = 10 * time.Second
	defaultTimeout = 10 * time.Second
)
