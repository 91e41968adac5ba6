package gen

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestSettingsAreReadOrRefused: what has no effect, or no meaning, is an error.
func TestSettingsAreReadOrRefused(t *testing.T) {
	for text, want := range map[string]struct{ relayID, err string }{
		"code: internal/shop":                   {},
		"relay: true":                           {relayID: "id"},
		"relay: false":                          {},
		"relay: true\nrelayId: nodeId":          {relayID: "nodeId"},
		"relayId: nodeId":                       {err: "say both, or neither"},
		"relay: false\nrelayId: nodeId":         {err: "say both, or neither"},
		"relay: true\nrelayId: __id":            {err: "no name of a field"},
		"relay: true\nrelayId: \"a b\"":         {err: "no name of a field"},
		"relay: maybe":                          {err: "relay"},
		"relays: true":                          {err: "relays"},
		"code: ../shop":                         {err: "a folder below"},
		"dev: {server: ./cmd/server, flag: []}": {err: "flag"},
	} {
		var part any
		if err := yaml.Unmarshal([]byte(text), &part); err != nil {
			t.Fatal(err)
		}
		own, err := readSettings(part)
		switch {
		case want.err != "" && (err == nil || !strings.Contains(err.Error(), want.err)):
			t.Errorf("%s: got %v, want an error that says %q", text, err, want.err)
		case want.err == "" && (err != nil || own.relayID() != want.relayID):
			t.Errorf("%s: the field of Node is %q, %v, want %q", text, own.relayID(), err, want.relayID)
		}
	}
}

// TestAnEmptyConfigurationIsThatOfGqlgen, as while an editor writes it.
func TestAnEmptyConfigurationIsThatOfGqlgen(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing yet\n", "{}\n"} {
		t.Chdir(t.TempDir())
		write(t, configFile, text)
		write(t, "schema.graphql", "type Query { a: Int }\n")
		cfg, _, err := readConfig()
		if err != nil || len(cfg.Sources) != 1 {
			t.Errorf("%q: %+v, %v, want the schema in schema.graphql", text, cfg, err)
		}
	}
}
