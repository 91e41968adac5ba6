package collision

import (
	"cmp"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// keysOf is the language of all keys of a half of a primary key, or of a part of an aggregate.
func (l *collisionChecker) keysOf(h *schema.Half) *language {
	if l.languages[h] == nil {
		l.languages[h] = l.newKeys(h, len(h.Fields))
	}
	return l.languages[h]
}

// indexKeysOf is the language of all keys of a half of an index. A patch may cut one short before fields that can be
// null, behind the first; it never does so in a unique index, and an aggregate has no patches.
func (l *collisionChecker) indexKeysOf(u schema.IndexUse, h *schema.Half) *language {
	if l.languages[h] == nil {
		always := len(h.Fields)
		for u.Model.Aggregate == nil && !u.Index.Unique && always > 1 && h.Fields[always-1].Nullable {
			always--
		}
		l.languages[h] = l.newKeys(h, always)
	}
	return l.languages[h]
}

// newKeys is the language of keys that end before any of the fields that follow those which a key always has, or hold
// all of them.
func (l *collisionChecker) newKeys(h *schema.Half, always int) *language {
	out, layout := newLanguage(), &h.Layout
	var ends []int
	out.text(layout.Head)
	bare := layout.Head == "" && layout.Tail == "" && len(layout.Segments) == 1 && layout.Segments[0].Before == ""
	for i, s := range layout.Segments {
		if i >= always {
			ends = append(ends, out.last())
		}
		if i > 0 || layout.Head != "" {
			out.text(layout.Sep)
		}
		out.text(s.Before)
		l.addValue(out, layout, i, h.Fields[i], bare)
	}
	if layout.Tail != "" {
		out.text(layout.Sep + layout.Tail)
	}
	out.endAt(ends)
	return out
}

// rangeOf is the language of the range that a query reads who gives nothing of the half: all that begins as its keys
// do.
func rangeOf(h schema.Half) *language {
	prefix := h.Layout.Head
	if len(h.Fields) == 0 {
		out := newLanguage()
		out.text(prefix)
		return out
	}
	if prefix != "" {
		prefix += h.Layout.Sep
	}
	return beginsWith(prefix)
}

func beginsWith(prefix string) *language {
	out := newLanguage()
	out.text(prefix)
	out.many(anyByte())
	return out
}

func anyByte() byteSet {
	var s byteSet
	s.add(0, 255)
	return s
}

// addValue goes on with any value of a field, which stands in a segment.
func (l *collisionChecker) addValue(out *language, layout *keys.Layout, segment int, f *schema.Field, bare bool) {
	digits := bytesOf("0123456789")
	switch {
	case f.Enum != "":
		var texts []string
		for _, v := range l.API.Named[f.Enum].EnumValues {
			texts = append(texts, layout.Casing.Apply(v.Name))
		}
		out.choice(texts)
	case f.Scalar == "Boolean":
		out.choice([]string{layout.Casing.Apply("true"), layout.Casing.Apply("false")})
	case f.Scalar == "Date":
		out.pattern("dddd-dd-dd")
	case f.Scalar == "DateTime":
		out.pattern(layout.Casing.Apply("dddd-dd-ddTdd:dd:dd.dddZ"))
		out.many(digits)
	case schema.IsNumber(f.Scalar):
		out.number(layout.Segments[segment])
	default:
		out.many(textBytes(layout, bare))
	}
}

// defaultDigits is how many integer digits a number has at least where its segment does not say.
const defaultDigits = 16

// number goes on with a number. A padded one that is negative or longer has marks besides, see package keys.
func (l *language) number(s keys.Segment) {
	digits := bytesOf("0123456789")
	l.maybe(bytesOf("-"))
	if s.Digits == keys.Unpadded {
		l.one(digits)
		l.many(digits)
		if s.Kind != keys.KindInt {
			l.maybe(bytesOf("."))
			l.many(digits)
		}
		return
	}
	l.one(bytesOf("0123456789:!"))
	for range cmp.Or(s.Digits, defaultDigits) - 1 {
		l.one(digits)
	}
	l.many(bytesOf("0123456789.!~"))
}

// textBytes are the bytes that a text can have in a key.
func textBytes(layout *keys.Layout, bare bool) byteSet {
	all := anyByte()
	if layout.Escape == keys.EscapePercent && !bare {
		all.remove(layout.Sep[0], layout.Sep[0])
	}
	switch layout.Casing {
	case keys.CasingLower:
		all.remove('A', 'Z')
	case keys.CasingUpper:
		all.remove('a', 'z')
	}
	return all
}
