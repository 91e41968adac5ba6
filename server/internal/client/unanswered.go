package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
)

// reaching sends requests over the network, and says what to do where no server is at the address.
type reaching struct{}

// RoundTrip implements http.RoundTripper.
func (reaching) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if isUnreached(err) {
		err = fmt.Errorf("%w: start the server, or give its address with --url", err)
	}
	return res, err
}

// isUnreached reports whether a request has reached nobody.
func isUnreached(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}
