package gen

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/goccy/go-yaml"
)

// settings are foldql's own part of the configuration, under the key "foldql".
type settings struct {
	// Code is the folder that the generated code goes to, relative to that of the configuration, which is the default.
	Code string `yaml:"code"`
	// Relay gives the API what clients of Relay need: the interface Node, and pages that are connections with cursors.
	Relay bool `yaml:"relay"`
	// RelayID is the field of Node that holds the global identifier of a row, id by default.
	RelayID string `yaml:"relayId"`
	// Dev is how foldql dev runs the server.
	Dev devSettings `yaml:"dev"`

	schemas []string // names and patterns of files, which gqlgen has under a key of its own
}

// relayID is the field of Node, "" where there is none.
func (s settings) relayID() string {
	switch {
	case !s.Relay:
		return ""
	case s.RelayID == "":
		return "id"
	}
	return s.RelayID
}

type devSettings struct {
	// Server is the import path of the program that serves; ./cmd/server is the default.
	Server string `yaml:"server"`
	// Flags are those that it gets.
	Flags []string `yaml:"flags"`
}

// readSettings reads foldql's own part of the configuration.
func readSettings(part any) (own settings, err error) {
	text, err := yaml.Marshal(part)
	if err != nil {
		return own, fmt.Errorf("read %s: foldql: %w", configFile, err)
	}
	if err := yaml.UnmarshalWithOptions(text, &own, yaml.DisallowUnknownField()); err != nil {
		return own, fmt.Errorf("read %s: foldql: %w", configFile, err)
	}
	switch {
	case own.Code != "" && !filepath.IsLocal(filepath.FromSlash(own.Code)):
		return own, fmt.Errorf("%s: foldql.code is %q: name a folder below that of this file", configFile, own.Code)
	case own.RelayID != "" && !own.Relay:
		return own, fmt.Errorf("%s: foldql.relayId is %q, and foldql.relay is not true: say both, or neither", configFile,
			own.RelayID)
	case own.RelayID != "" && !isName.MatchString(own.RelayID):
		return own, fmt.Errorf("%s: foldql.relayId is %q, which is no name of a field", configFile, own.RelayID)
	}
	return own, nil
}

// isName is of names of GraphQL that are not reserved.
var isName = regexp.MustCompile(`^(_?[A-Za-z]|_[0-9])[_0-9A-Za-z]*$`)
