package config

import (
	"net"
	"regexp"
	"slices"
	"strings"
)

// Exposure says by which names the server is asked, and what it shows to those who run it.
type Exposure struct {
	AllowedHosts     []string `help:"Host names that requests may use, beside localhost and addresses; * for any. By default any, but none on loopback." placeholder:"NAME" group:"API"`
	AdminListen      string   `help:"Address of a second listener that shows /metrics, the details of /readyz and the lists of /admin/ without the write token; none by default." placeholder:"HOST:PORT" group:"Lifecycle"`
	MetricOperations []string `help:"Names of GraphQL operations with series of their own in /metrics; all others are counted by their query field." placeholder:"NAME" group:"Lifecycle"`
}

// MostNames bounds the names of operations in metrics: each has a histogram.
const MostNames = 200

// operationName is the name of an operation as GraphQL has it, and of a length that metrics can carry.
var operationName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// Validate refuses names and addresses that are none, and too many names. It brings those of hosts into the form in
// which they are compared.
func (e *Exposure) Validate() error {
	e.AllowedHosts = slices.Clone(e.AllowedHosts) // they may be a slice of the program that embeds the server
	for i, name := range e.AllowedHosts {
		if name == "" || name != "*" && strings.ContainsAny(name, "*/:@ ") {
			return Wrong("allowed-hosts",
				"%q is no name of a host; write it without scheme and port, such as api.example.com", name)
		}
		e.AllowedHosts[i] = strings.ToLower(strings.TrimSuffix(name, "."))
	}
	if e.AdminListen != "" {
		if _, _, err := net.SplitHostPort(e.AdminListen); err != nil {
			return Wrong("admin-listen", "%w; write host:port, such as 127.0.0.1:9090", err)
		}
	}
	if len(e.MetricOperations) > MostNames {
		return Wrong("metric-operations", "%d names are too many; give %d at most", len(e.MetricOperations), MostNames)
	}
	for _, name := range e.MetricOperations {
		if !operationName.MatchString(name) {
			return Wrong("metric-operations",
				"%q is no name of an operation; it has letters, digits and _, at most 64 of them", name)
		}
	}
	return nil
}
