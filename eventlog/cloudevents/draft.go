package cloudevents

import (
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
)

// draft is an event of which not all attributes are known yet.
type draft struct {
	event   eventlog.Event
	version bool     // specversion is there
	seen    uint     // bits of the kinds that were given
	others  []string // names of extensions that were given, at most MaxExtensions
	recent  *recent  // nil where each value has memory of its own
}

// MaxExtensions is how many extension attributes an event may have. The specification sets no bound; this one keeps
// what an event costs in proportion to its size.
const MaxExtensions = 100

// mark records that a member is there. It fails where its name is none, where the member was there before, or is one
// extension too many.
func (d *draft) mark(m member) *Error {
	if m.kind != extension {
		if d.seen&(1<<m.kind) != 0 {
			return wrong(m.name, "given twice")
		}
		d.seen |= 1 << m.kind
		return nil
	}
	if err := checkName(m.name); err != nil {
		return err
	}
	if slices.Contains(d.others, m.name) {
		return wrong(cut(m.name), "given twice")
	}
	if len(d.others) == MaxExtensions {
		return wrong(cut(m.name), fmt.Sprintf("the event has more than %d extension attributes", MaxExtensions))
	}
	d.others = append(d.others, m.name)
	return nil
}

// set gives an attribute other than data its value.
func (d *draft) set(m member, value []byte) *Error {
	if err := d.mark(m); err != nil {
		return err
	}
	if err := checkText(m, value); err != nil {
		return err
	}
	e := &d.event
	switch m.kind {
	case specVersion:
		if string(value) != "1.0" {
			return wrong(m.name, `want "1.0", got `+show(value))
		}
		d.version = true
	case id:
		e.ID = string(value)
	case source:
		e.Source = d.recent.text(value)
	case typeName:
		e.Type = d.recent.text(value)
	case subject:
		e.Subject = string(value)
	case partitionKey:
		e.PartitionKey = string(value)
	case dataSchema:
		e.DataSchema = d.recent.text(value)
	case timeStamp:
		t, err := keys.ParseDateTime(string(value))
		if err != nil {
			return wrong(m.name, "want an RFC 3339 date-time, got "+show(value))
		}
		e.Time = t
	case contentType:
		return d.contentType(value)
	default:
		d.extend(m.name, string(value))
	}
	return nil
}

// contentType accepts JSON only. A type other than the usual one is kept beside the extensions.
func (d *draft) contentType(value []byte) *Error {
	if string(value) == "application/json" {
		return nil
	}
	media, _, err := mime.ParseMediaType(string(value))
	if err != nil || !isJSON(media) {
		return wrong("datacontenttype", "want a JSON media type, got "+show(value))
	}
	if media != "application/json" {
		d.extend("datacontenttype", string(value))
	}
	return nil
}

func isJSON(media string) bool {
	return strings.HasSuffix(media, "/json") || strings.HasSuffix(media, "+json")
}

func (d *draft) extend(name, value string) {
	if d.event.Extensions == nil {
		d.event.Extensions = map[string]string{}
	}
	d.event.Extensions[name] = value
}

// finish returns the event, if it has what it must have.
func (d *draft) finish() (eventlog.Event, *Error) {
	e := &d.event
	missing := ""
	switch {
	case !d.version:
		missing = "specversion"
	case e.ID == "":
		missing = "id"
	case e.Source == "":
		missing = "source"
	case e.Type == "":
		missing = "type"
	case e.Data == nil:
		missing = "data"
	default:
		return *e, nil
	}
	return eventlog.Event{}, wrong(missing, "required, but missing")
}

// checkName holds an attribute to the names that there may be: lower-case letters and digits of ASCII.
func checkName(name string) *Error {
	if name == "" {
		return wrong(`""`, "an attribute without a name")
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return wrong(cut(name), "the name of an attribute has lower-case letters and digits only")
		}
	}
	return nil
}

// MaxName is how many bytes each of the attributes may have that name an event or what it is about: id, source, type,
// subject and partitionkey. Positions and notes are kept under them, in every store.
const MaxName = 2048

// checkText holds a value to the strings that an attribute may have.
func checkText(m member, value []byte) *Error {
	if len(value) == 0 {
		return wrong(cut(m.name), "must not be empty")
	}
	switch m.kind {
	case id, source, typeName, subject, partitionKey:
		if len(value) > MaxName {
			return wrong(m.name, fmt.Sprintf("has %d bytes, and may have %d", len(value), MaxName))
		}
	}
	for i, c := range value {
		switch {
		case c < ' ' || c == 0x7f:
			return wrong(cut(m.name), noControls)
		case c > 0x7f:
			return checkRunes(m, value[i:])
		}
	}
	return nil
}

const noControls = "must not have control characters or noncharacters"

// checkRunes is checkText of what is not ASCII alone.
func checkRunes(m member, value []byte) *Error {
	for len(value) > 0 {
		r, n := utf8.DecodeRune(value)
		if unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r) {
			return wrong(cut(m.name), noControls)
		}
		value = value[n:]
	}
	return nil
}

// show quotes a value of the input for a message.
func show(value []byte) string { return `"` + cut(string(value)) + `"` }

// cut shortens a text of the input for a message.
func cut(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
