package hostile

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/foldql/foldql/eventlog/cloudevents"
)

// drafts is how many events are made up; numbers repeat, so some are sent again.
const drafts = 20_000

// ingest makes a request to take events.
func (a *attacker) ingest(d dice) *request {
	return draw(d, []weighted[func(dice) *request]{
		{22, a.fresh}, {6, a.again}, {6, a.contradicting}, {20, a.wrongData}, {14, a.wrongAttributes}, {8, a.many}, {10,
			a.garbledEvent},
		{10, a.wrongTransport}, {2, a.oversized}, {1, a.interrupted},
	})(d)
}

// structured sends one event in the structured mode.
func structured(kind, body string) *request {
	return &request{
		kind: kind, method: http.MethodPost, path: events, body: body, sized: true,
		header: headers("Content-Type", cloudevents.StructuredType),
	}
}

// binary sends one event in the binary mode.
func binary(kind string, e draft) *request {
	q := structured(kind, e.data.String())
	q.header = headers("Content-Type", "application/json")
	for _, m := range e.attributes {
		value := strings.Trim(m.value, `"`)
		if len(m.name)+len(value) < 4000 {
			q.header["Ce-"+strings.ToUpper(m.name[:1])+m.name[1:]] = []string{headerValue(value)}
		}
	}
	return q
}

// fresh sends a good event, for the first time or not.
func (a *attacker) fresh(d dice) *request {
	e := a.event(d.Uint64N(drafts))
	if d.chance(40) {
		return binary("event/binary", e)
	}
	return structured("event/structured", e.String())
}

// again sends an event that the shop has.
func (a *attacker) again(d dice) *request {
	e := pick(d, a.sample)
	q := structured("event/again", string(cloudevents.Append(nil, &e)))
	q.want = status(http.StatusOK)
	return q
}

// contradicting sends an event that the shop has with another content.
func (a *attacker) contradicting(d dice) *request {
	e := pick(d, a.sample)
	switch d.IntN(3) {
	case 0:
		e.Subject += "'"
	case 1:
		e.Time = e.Time.Add(1)
	case 2:
		e.Data = append(slices.Clone(e.Data[:len(e.Data)-1]), `,"more":1}`...)
	}
	q := structured("event/contradicting", string(cloudevents.Append(nil, &e)))
	q.want = status(http.StatusConflict)
	return q
}

// wrongData sends an event whose data may not be what its type declares.
func (a *attacker) wrongData(d dice) *request {
	e := a.event(drafts + d.Uint64N(drafts))
	e.data = a.disturbObject(d, e.data)
	if d.chance(30) {
		return binary("event/data", e)
	}
	return structured("event/data", e.String())
}

// wrongAttributes sends an event whose envelope may be wrong.
func (a *attacker) wrongAttributes(d dice) *request {
	e := a.event(drafts + d.Uint64N(drafts))
	e.attributes = a.disturbObject(d, e.attributes)
	if d.chance(20) {
		extra := pick(d, []member{
			{"data_base64", `"e30="`}, {"data_base64", `"!"`}, {"Upper", `"x"`}, {"ext", "1"}, {"ext", "1.5"}, {"ext", "[]"},
			{"ext", "true"},
			{"partitionkey", `"k"`}, {"datacontenttype", `"text/xml"`}, {"dataschema", `"urn:x"`}, {"specversion",
				`"0.3"`}, {"", `""`},
			{strings.Repeat("n", 2000), `"x"`}, {"time", `"2024-02-30T00:00:00Z"`},
		})
		e.attributes = append(slices.Clone(e.attributes), extra)
	}
	if d.chance(30) && !slices.ContainsFunc(e.attributes, func(m member) bool { return m.name == "" }) {
		return binary("event/attributes", e)
	}
	return structured("event/attributes", e.String())
}

// disturbObject does one thing to an object.
func (a *attacker) disturbObject(d dice, o object) object {
	o = slices.Clone(o)
	at := d.IntN(len(o))
	w := &author{dice: d}
	switch d.IntN(7) {
	case 0:
		return slices.Delete(o, at, at+1)
	case 1:
		return append(o, o[at])
	case 2:
		o[at].name = pick(d, []string{"unknown", "orderid", o[at].name + "s", "__proto__", headerValue(d.text())})
	case 3:
		o[at].value = pick(d, o).value
	case 4:
		o = append(o, member{"unknown", w.hostileJSON()})
	default:
		o[at].value = w.hostileJSON()
	}
	return o
}

// many sends a batch, with a wrong event in it now and then.
func (a *attacker) many(d dice) *request {
	list := make([]string, d.IntN(8))
	for i := range list {
		e := a.event(d.Uint64N(drafts))
		if d.chance(8) {
			e.data = a.disturbObject(d, e.data)
		}
		list[i] = e.String()
	}
	q := structured("event/batch", "["+strings.Join(list, ",")+"]")
	q.header = headers("Content-Type", cloudevents.BatchType)
	if d.chance(15) {
		q.body = d.bytes(q.body)
	}
	return q
}

// garbledEvent mutates the bytes of an event, or of the headers of one.
func (a *attacker) garbledEvent(d dice) *request {
	e := a.event(drafts + d.Uint64N(drafts))
	if d.chance(70) {
		return structured("event/bytes", d.bytes(e.String()))
	}
	q := binary("event/bytes", e)
	for _, name := range slices.Sorted(maps.Keys(q.header)) {
		if d.chance(20) {
			q.header[name] = []string{headerValue(d.bytes(q.header[name][0]))}
		}
	}
	return q
}

// wrongTransport sends a good event in the wrong way.
func (a *attacker) wrongTransport(d dice) *request {
	q := structured("event/transport", a.event(d.Uint64N(drafts)).String())
	switch d.IntN(6) {
	case 0:
		q.method = pick(d, []string{"GET", "PUT", "DELETE", "OPTIONS", "PATCH"})
	case 1:
		q.header.Set("Content-Type", pick(d, append(mediaTypes, "application/cloudevents+avro",
			"application/cloudevents+json; charset=utf-16")))
	case 2:
		q.header.Set("Content-Encoding", pick(d, []string{"gzip", "br", "identity"}))
	case 3:
		q.body, q.broken = q.body[:d.IntN(len(q.body))], true
	case 4:
		q.header.Set("Content-Type", cloudevents.BatchType)
	case 5:
		q.header.Del("Content-Type")
	}
	return q
}

var padding = quoted(strings.Repeat("p", 256<<10))

// oversized sends more than may be sent: an event, or once in a while a request.
func (a *attacker) oversized(d dice) *request {
	e := a.event(d.Uint64N(drafts))
	if n := d.IntN(100); n < 10 {
		q := structured("event/oversized", e.String())
		q.tail, q.sized = 17<<20, n > 0 // what is not announced is read, up to the limit
		if d.chance(50) {
			q.header = headers("Content-Type", cloudevents.BatchType)
		}
		q.want = status(http.StatusRequestEntityTooLarge)
		return q
	}
	e.data = append(slices.Clone(e.data), member{"padding", padding})
	if d.chance(50) {
		return binary("event/oversized", e)
	}
	q := structured("event/oversized", e.String())
	q.want = status(http.StatusRequestEntityTooLarge)
	return q
}

// interrupted sends a good event while something goes wrong.
func (a *attacker) interrupted(d dice) *request {
	q := structured("event/trouble", a.event(d.Uint64N(drafts)).String())
	q.trouble = pick(d, []trouble{expired, cancelled})
	return q
}
