// Package certs reads the certificates by which a source and the server that has its events know each other.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Files are where certificates are, in PEM.
type Files struct {
	CA        string // those that the one of the server is to be signed by, "" for those of the system
	Cert, Key string // the one that the client shows and its key, "" for none
}

// Config is what the files say of encrypted connections, nil where there are none.
func (f Files) Config() (*tls.Config, error) {
	if f == (Files{}) {
		return nil, nil
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("a certificate of the client and its key belong together; give both")
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("read the certificates: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate (PEM)", f.CA)
		}
	}
	if f.Cert != "" {
		own, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the client: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}
