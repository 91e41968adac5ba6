package payload

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Mapping says where the attributes of events stand in messages.
type Mapping struct {
	source string
	types  map[string]string
	unit   time.Duration // of times that are numbers, 0 where they are refused

	attributes []attribute // other than source
	data       place       // the message where it has no kind
	fields     [][]string  // the paths of those that are fields
}

// attribute is one that is taken out of messages.
type attribute struct {
	name     string
	required bool
	at       place
}

// text is a mapping as it is written.
type text struct {
	Source       string            `yaml:"source"`
	ID           string            `yaml:"id"`
	Type         string            `yaml:"type"`
	Types        map[string]string `yaml:"types"`
	Subject      string            `yaml:"subject"`
	Time         string            `yaml:"time"`
	TimeUnit     string            `yaml:"timeUnit"`
	PartitionKey string            `yaml:"partitionKey"`
	DataSchema   string            `yaml:"dataSchema"`
	Data         string            `yaml:"data"`
}

// MaxSize is how many bytes the text of a mapping may have.
const MaxSize = 64 << 10

var units = map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": 1}

// Parse reads a mapping in YAML. Its errors say what to write.
func Parse(b []byte) (*Mapping, error) {
	if len(b) > MaxSize {
		return nil, fmt.Errorf("read the mapping: it has %d bytes, and may have %d", len(b), MaxSize)
	}
	var t text
	if err := yaml.UnmarshalWithOptions(b, &t, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("read the mapping: %w", err)
	}
	m, err := t.mapping()
	if err != nil {
		return nil, fmt.Errorf("read the mapping: %w", err)
	}
	return m, nil
}

func (t *text) mapping() (*Mapping, error) {
	m := &Mapping{source: t.Source, types: t.Types, unit: units[t.TimeUnit]}
	switch {
	case t.Source == "":
		return nil, errors.New("source is missing; write what the source of all events is, such as source: /orders")
	case t.TimeUnit != "" && m.unit == 0:
		return nil, fmt.Errorf("timeUnit is %q; write s, ms, us or ns", t.TimeUnit)
	}
	for _, a := range []struct {
		name, written string
		required      bool
	}{
		{"id", t.ID, true}, {"type", t.Type, true}, {"subject", t.Subject, false}, {"time", t.Time, false},
		{"partitionkey", t.PartitionKey, false}, {"dataschema", t.DataSchema, false},
	} {
		if a.written == "" {
			if a.required {
				return nil, fmt.Errorf("%s is missing; write where it stands, such as %s: field %s", a.name, a.name, a.name)
			}
			continue
		}
		at, err := parsePlace(a.name, a.written)
		if err != nil {
			return nil, err
		}
		m.attributes = append(m.attributes, attribute{a.name, a.required, m.known(at)})
	}
	if t.Data == "" {
		return m, nil
	}
	var err error
	if m.data, err = parsePlace("data", t.Data); err == nil && m.data.kind != inField {
		err = fmt.Errorf("data is %q; it is a field, or the whole message where it is left out", t.Data)
	}
	m.data = m.known(m.data)
	return m, err
}

// Fields are the paths of the fields that the mapping looks at.
func (m *Mapping) Fields() [][]string { return m.fields }

// known adds the path of a field to those that are looked for in a message.
func (m *Mapping) known(p place) place {
	if p.kind == inField {
		p.field = len(m.fields)
		m.fields = append(m.fields, p.path)
	}
	return p
}

// OfLines fails where the mapping wants what only a message of a stream has: lines of files have neither headers nor a
// subject.
func (m *Mapping) OfLines() error {
	for _, a := range m.attributes {
		switch a.at.kind {
		case inHeader, inSubject:
			return fmt.Errorf("%s is taken from %q, which a line of a file has not; take it from a field", a.name, a.at)
		}
	}
	return nil
}

// kind is what a place is.
type kind string

const (
	inField    kind = "field"
	inHeader   kind = "header"
	inSubject  kind = "subject"
	constant   kind = "text"
	atPosition kind = "position"
)

// place is where an attribute stands.
type place struct {
	kind  kind
	what  string   // a name or a value
	path  []string // of a field
	field int      // where the path is in Mapping.fields
	token int      // of a subject, counted from 0
}

func (p place) String() string { return strings.TrimSpace(string(p.kind) + " " + p.what) }

// maxPath is how many names the path of a field may have.
const maxPath = 16

// parsePlace reads where an attribute stands.
func parsePlace(name, written string) (place, error) {
	word, what, _ := strings.Cut(strings.TrimSpace(written), " ")
	p := place{kind: kind(word), what: strings.TrimSpace(what)}
	bad := func(want string) (place, error) { return p, fmt.Errorf("%s is %q; write %s", name, written, want) }
	switch p.kind {
	case inField:
		if p.path = strings.Split(p.what, "."); len(p.path) > maxPath {
			return bad(fmt.Sprintf("a field in %d objects at most", maxPath-1))
		}
		for _, step := range p.path {
			if step == "" {
				return bad("field NAME, or field NAME.NAME for one in an object")
			}
		}
	case inHeader, constant:
		if p.what == "" {
			return bad(word + " and what it is")
		}
	case inSubject:
		if _, err := fmt.Sscanf(p.what+"$", "%d$", &p.token); err != nil || p.token < 1 {
			return bad("subject and the number of a token, counted from 1")
		}
		p.token--
	case atPosition:
		if p.what != "" || name != "id" {
			return bad("id: position, which an id alone can be")
		}
	default:
		return bad("field NAME, header NAME, subject N or text VALUE")
	}
	return p, nil
}
