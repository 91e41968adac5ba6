package schema

// keysOf is the language of all keys of a half.
func (l *loader) keysOf(h *Half) *language {
	if l.languages[h] == nil {
		l.languages[h] = l.newKeys(h)
	}
	return l.languages[h]
}

func (l *loader) newKeys(h *Half) *language {
	out := newLanguage()
	out.text(h.Head)
	bare := h.Head == "" && len(h.Segments) == 1
	for i, s := range h.Segments {
		if i > 0 || h.Head != "" {
			out.text(entitySep)
		}
		if s.Field == nil {
			out.text(s.Literal)
			continue
		}
		if s.Name != "" {
			out.text(s.Name + "_")
		}
		l.addValue(out, h, s, bare)
	}
	return out
}

// rangeOf is the language of the range that a query reads who gives nothing of the half: all that begins as its keys do.
func rangeOf(h Half) *language {
	prefix, whole := h.Prefix()
	if whole {
		out := newLanguage()
		out.text(prefix)
		return out
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

// addValue goes on with any value of a field.
func (l *loader) addValue(out *language, h *Half, s Segment, bare bool) {
	f := s.Field
	digits := bytesOf("0123456789")
	switch {
	case f.Enum != "":
		var texts []string
		for _, v := range l.api.named[f.Enum].EnumValues {
			texts = append(texts, cased(v.Name, h.Casing))
		}
		out.choice(texts)
	case f.Scalar == "Boolean":
		out.choice([]string{cased("true", h.Casing), cased("false", h.Casing)})
	case f.Scalar == "Date":
		out.shape("dddd-dd-dd")
	case f.Scalar == "DateTime":
		out.shape(cased("dddd-dd-ddTdd:dd:dd.dddZ", h.Casing))
		out.many(digits)
	case kindOf(f) == "Int" || f.Scalar == "Float" || f.Scalar == "Decimal":
		out.number(h, s)
	default:
		out.many(textBytes(h, bare))
	}
}

// entityPad is how many digits a number has at least in the key of an entity.
const entityPad = 16

// number goes on with a number: as it is in a template, unless it is padded. A padded one that is negative or longer has
// marks besides, see package keys.
func (l *language) number(h *Half, s Segment) {
	digits := bytesOf("0123456789")
	pad := s.Pad
	if h.Style == EntityStyle {
		pad = entityPad
	}
	l.maybe(bytesOf("-"))
	if pad == 0 {
		l.one(digits)
		l.many(digits)
		if kindOf(s.Field) != "Int" {
			l.maybe(bytesOf("."))
			l.many(digits)
		}
		return
	}
	l.one(bytesOf("0123456789:!"))
	for range pad - 1 {
		l.one(digits)
	}
	l.many(bytesOf("0123456789.!~"))
}

// textBytes are the bytes that a text can have in a key.
func textBytes(h *Half, bare bool) byteSet {
	all := anyByte()
	if h.Escape && !bare {
		all.remove(entitySep[0], entitySep[0])
	}
	switch h.Casing {
	case lowercase:
		all.remove('A', 'Z')
	case uppercase:
		all.remove('a', 'z')
	}
	return all
}
