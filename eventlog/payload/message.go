package payload

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// Message is what a producer has published.
type Message struct {
	Body    []byte
	Headers map[string][]string
	Subject string    // that it was published to, "" for none
	Stored  time.Time // when the source has stored it, zero where it does not say

	// Where it stands: the partition of the source and its place in it.
	Partition string
	Offset    uint64
}

// hash tells the message from others at its place.
func (msg *Message) hash() string {
	h := sha256.New()
	number := func(n int64) {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	part := func(s string) {
		number(int64(len(s)))
		io.WriteString(h, s)
	}
	if !msg.Stored.IsZero() {
		number(msg.Stored.UnixNano())
	}
	part(msg.Subject)
	number(int64(len(msg.Headers)))
	for _, name := range slices.Sorted(maps.Keys(msg.Headers)) {
		part(name)
		number(int64(len(msg.Headers[name])))
		for _, value := range msg.Headers[name] {
			part(value)
		}
	}
	h.Write(msg.Body)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Event makes an event of a message. Its data shares the memory of the body. Beside an error, which says where in the
// message what is missing or wrong, the event has what is known of its attributes.
func (m *Mapping) Event(d cloudevents.Decoder, msg *Message) (eventlog.Event, error) {
	attributes := make([]cloudevents.Attribute, 1, len(m.attributes)+1)
	attributes[0] = cloudevents.Attribute{Name: "source", Value: m.source}
	var failed error
	fields, broken := find(msg.Body, m.fields)
	for i := range m.attributes {
		a := &m.attributes[i]
		value, err := m.value(a, msg, fields)
		switch {
		case broken != nil && a.at.kind == inField:
			err = broken
		case err == nil && value == "" && a.required:
			err = errMissing
		}
		switch {
		case err != nil && failed == nil:
			failed = fmt.Errorf("%s, from %q: %w", a.name, a.at, err)
		case err == nil && value != "":
			attributes = append(attributes, cloudevents.Attribute{Name: a.name, Value: value})
		}
	}
	data := msg.Body
	if m.data.kind == inField {
		f := &fields[m.data.field]
		if data = f.raw; f.err == nil && f.raw == nil {
			f.err = cmp.Or(broken, errMissing)
		}
		if f.err != nil && failed == nil {
			failed = fmt.Errorf("data, from %q: %w", m.data, f.err)
		}
	}
	e, err := d.Assemble(attributes, data)
	e.MessageHash = msg.hash()
	switch {
	case len(msg.Body) > d.Limit(): // whatever else is wrong, and however little of it are the data
		return e, d.Fits(&eventlog.Event{Data: msg.Body})
	case failed != nil:
		return e, failed
	}
	return e, err
}

// value is that of an attribute, "" where the message has none.
func (m *Mapping) value(a *attribute, msg *Message, fields []found) (string, error) {
	switch a.at.kind {
	case constant:
		return a.at.what, nil
	case atPosition:
		return msg.Partition + "/" + strconv.FormatUint(msg.Offset, 10), nil
	}
	text, number, err := a.at.in(msg, fields)
	switch {
	case err != nil:
		return "", err
	case a.name == "type" && m.types[text] != "":
		return m.types[text], nil
	case a.name == "time" && (number || a.at.kind != inField && isNumber(text)):
		return m.time(text)
	}
	return text, nil
}

// in returns what stands at a place, and whether it is a number.
func (p *place) in(msg *Message, fields []found) (text string, number bool, err error) {
	switch p.kind {
	case inHeader:
		text, err = header(msg.Headers, p.what)
	case inSubject:
		if tokens := strings.Split(msg.Subject, "."); p.token < len(tokens) {
			text = tokens[p.token]
		}
	case inField:
		return fields[p.field].text()
	}
	return text, false, err
}

// header returns the value of a header, whatever case its name is in, "" where there is none.
func header(all map[string][]string, name string) (text string, err error) {
	for given, values := range all {
		if !strings.EqualFold(given, name) || len(values) == 0 {
			continue
		}
		if text != "" || len(values) > 1 {
			return "", errors.New("given twice")
		}
		text = values[0]
	}
	return text, nil
}

// isNumber reports whether a text is digits alone, and perhaps a sign.
func isNumber(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// time reads a number as a time since 1970.
func (m *Mapping) time(number string) (string, error) {
	if m.unit == 0 {
		return "", errors.New("it is a number; write its timeUnit into the mapping")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", fmt.Errorf("want a whole number of 64 bits, got %.40s", number)
	}
	perSecond := int64(time.Second / m.unit)
	t := time.Unix(n/perSecond, n%perSecond*int64(m.unit)).UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return "", fmt.Errorf("%s is a time of the year %d; is timeUnit right?", number, y)
	}
	return t.Format(time.RFC3339Nano), nil
}
