package config

import (
	"fmt"
	"net/url"
	"regexp"
)

// CORS says which pages of other origins may query the API, and with which headers.
type CORS struct {
	CORSOrigins []string `name:"cors-origins" help:"Origins whose pages may query the API, * for any; none by default." placeholder:"ORIGIN" group:"API"`
	CORSHeaders []string `name:"cors-headers" help:"Headers that requests of these pages may have beside those of the API, as tools for tracing add them; * for any." placeholder:"NAME" group:"API"`
}

// headerName is the name of a header as HTTP has it; "*" is one, too.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// Validate refuses what is no origin, or no name of a header, and headers that no page may send.
func (c *CORS) Validate() error {
	for _, o := range c.CORSOrigins {
		if err := checkOrigin(o); err != nil {
			return Wrong("cors-origins", "%w", err)
		}
	}
	for _, name := range c.CORSHeaders {
		if !headerName.MatchString(name) {
			return Wrong("cors-headers", "%q is no name of a header; write names only, such as traceparent", name)
		}
	}
	if len(c.CORSHeaders) > 0 && len(c.CORSOrigins) == 0 {
		return Wrong("cors-headers", "pages of no origin may send them: list those that may with --cors-origins")
	}
	return nil
}

// checkOrigin wants an origin as browsers send it, because they are compared as texts.
func checkOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("%q is no origin; write scheme, host and port only, such as https://app.example.com", origin)
	}
	return nil
}
