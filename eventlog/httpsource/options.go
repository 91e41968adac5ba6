package httpsource

import (
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/foldql/foldql/eventlog/internal/certs"
)

// Options are how a Source is opened.
type Options struct {
	URL           string // of the server that has the events: https://HOST[:PORT], with a path where it is below one
	Token         string // that admits those who may read events, "" for none
	CA            string // file of certificates that the server's is to be signed by, "" for those of the system
	Cert, Key     string // files of the certificate of this client, "" for none
	MaxEventBytes int    // of one event, cloudevents.DefaultMaxSize where 0; a larger one is malformed
	// Client sends the requests; nil is for one that knows the certificates and follows no redirect: the token is for the
	// server of the address alone. It needs no timeout: a request is given up when nothing has come for a minute.
	Client *http.Client
}

// client is the one of the options, or one that they are for.
func (o *Options) client(encrypted bool) (*http.Client, error) {
	certificates, err := certs.Files{CA: o.CA, Cert: o.Cert, Key: o.Key}.Config()
	switch {
	case err != nil:
		return nil, err
	case certificates != nil && !encrypted:
		return nil, errors.New("there are certificates, and the address is one of connections without any; give one of https")
	case certificates != nil && o.Client != nil:
		return nil, errors.New("there are certificates, and a client that has its own; give one of them")
	case o.Client != nil:
		return o.Client, nil
	}
	return &http.Client{
		Transport: &http.Transport{ // as http.DefaultTransport is, which others may have replaced
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: certificates, ForceAttemptHTTP2: true,
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
