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
	seen    uint     // bits of the known names that were given
	others  []string // names of extensions that were given, at most MaxExtensions
}

// MaxExtensions is how many extension attributes an event may have. The specification sets no bound; this one keeps
// what an event costs in proportion to its size.
const MaxExtensions = 100

// known are the attributes with a meaning here; the rest are extensions.
var known = [...]string{
	"specversion", "id", "source", "type", "subject", "time", "partitionkey", "dataschema", "datacontenttype", "data",
}

// mark records that a member is there. It fails where the member was there before, or is one extension too many.
func (d *draft) mark(name string) *Error {
	if i := slices.Index(known[:], name); i >= 0 {
		if d.seen&(1<<i) != 0 {
			return wrong(name, "given twice")
		}
		d.seen |= 1 << i
		return nil
	}
	if slices.Contains(d.others, name) {
		return wrong(cut(name), "given twice")
	}
	if len(d.others) == MaxExtensions {
		return wrong(cut(name), fmt.Sprintf("the event has more than %d extension attributes", MaxExtensions))
	}
	d.others = append(d.others, name)
	return nil
}

// set gives an attribute other than data its value.
func (d *draft) set(name, value string) *Error {
	if err := d.name(name); err != nil {
		return err
	}
	if err := checkText(name, value); err != nil {
		return err
	}
	e := &d.event
	switch name {
	case "specversion":
		if value != "1.0" {
			return wrong(name, `want "1.0", got `+show(value))
		}
		d.version = true
	case "id":
		e.ID = value
	case "source":
		e.Source = value
	case "type":
		e.Type = value
	case "subject":
		e.Subject = value
	case "partitionkey":
		e.PartitionKey = value
	case "dataschema":
		e.DataSchema = value
	case "time":
		t, err := keys.ParseDateTime(value)
		if err != nil {
			return wrong(name, "want an RFC 3339 date-time, got "+show(value))
		}
		e.Time = t
	case "datacontenttype":
		return d.contentType(value)
	default:
		d.extend(name, value)
	}
	return nil
}

// name takes the name of an attribute, which must be one and new.
func (d *draft) name(name string) *Error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.mark(name)
}

// contentType accepts JSON only. A type other than the usual one is kept beside the extensions.
func (d *draft) contentType(value string) *Error {
	if value == "application/json" {
		return nil
	}
	media, _, err := mime.ParseMediaType(value)
	if err != nil || !isJSON(media) {
		return wrong("datacontenttype", "want a JSON media type, got "+show(value))
	}
	if media != "application/json" {
		d.extend("datacontenttype", value)
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
	for _, must := range [...]struct {
		name  string
		there bool
	}{
		{"specversion", d.version}, {"id", e.ID != ""}, {"source", e.Source != ""}, {"type", e.Type != ""},
		{"data", e.Data != nil},
	} {
		if !must.there {
			return eventlog.Event{}, wrong(must.name, "required, but missing")
		}
	}
	return *e, nil
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
func checkText(name, value string) *Error {
	if value == "" {
		return wrong(cut(name), "must not be empty")
	}
	switch name {
	case "id", "source", "type", "subject", "partitionkey":
		if len(value) > MaxName {
			return wrong(name, fmt.Sprintf("has %d bytes, and may have %d", len(value), MaxName))
		}
	}
	for _, r := range value {
		if r < ' ' || r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r)) {
			return wrong(cut(name), "must not have control characters or noncharacters")
		}
	}
	return nil
}

// show quotes a value of the input for a message.
func show(value string) string { return `"` + cut(value) + `"` }

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
