package auth

import (
	"net"
	"net/url"
	"strings"
)

// warn logs what of the configuration lets in tokens that may not be meant. Neither is an error: an issuer may have a
// key set for this application alone, and a network nobody else on it.
func (c *Config) warn() {
	if !remote(c.JWKS) {
		return
	}
	if c.Issuer == "" && len(c.Audience) == 0 {
		c.Logger.Warn("every token is accepted that a key of the key set has signed, also those of other tenants and "+
			"applications, where their issuer has the same keys for them: require an issuer and an audience "+
			"(--jwt-issuer, --jwt-audience)", "jwks", shown(c.JWKS))
	}
	if exposed(c.JWKS) {
		c.Logger.Warn("the key set is fetched over http: whoever can change what comes over the network can have tokens of "+
			"their own accepted; give an https address (--jwt-jwks)", "jwks", shown(c.JWKS))
	}
}

// exposed reports whether an address is fetched in the clear from another machine.
func exposed(jwks string) bool {
	u, err := url.Parse(jwks)
	if err != nil || u.Scheme != "http" {
		return false
	}
	name := strings.ToLower(u.Hostname())
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && !net.ParseIP(name).IsLoopback()
}
