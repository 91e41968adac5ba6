package auth

// warn logs what of the configuration lets in tokens that may not be meant. It is no error: an issuer may have a key set
// for this application alone.
func (c *Config) warn() {
	if !remote(c.JWKS) {
		return
	}
	if c.Issuer == "" && len(c.Audience) == 0 {
		c.Logger.Warn("every token is accepted that a key of the key set has signed, also those of other tenants and "+
			"applications, where their issuer has the same keys for them: require an issuer and an audience "+
			"(--jwt-issuer, --jwt-audience)", "jwks", shown(c.JWKS))
	}
}
