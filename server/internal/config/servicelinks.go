package config

import (
	"regexp"
	"strings"
)

// serviceLinks are the variables by which Kubernetes tells each container of a namespace of a Service called foldql.
var serviceLinks = regexp.MustCompile(`^FOLDQL_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT` +
	`|PORT_[0-9]+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)$`)

// isServiceLink reports whether a variable may come from Kubernetes, and not from somebody who means an option.
// FOLDQL_PORT has the address of the Service there, as tcp://10.0.0.1:80: a mere number is meant for --listen.
func (s *Settings) isServiceLink(name string) bool {
	if value, _ := s.Env(name); name == variablePrefix+"PORT" && !strings.Contains(value, "://") {
		return false
	}
	return serviceLinks.MatchString(name)
}
