package hostile

import (
	"math/rand/v2"
	"strings"
)

// dice make the choices of one request. The same seed and number always make the same request, whichever goroutine
// sends it and whatever was answered before.
type dice struct{ *rand.Rand }

func newDice(seed, number uint64) dice { return dice{rand.New(rand.NewPCG(seed, number))} }

// chance is true so many times in a hundred.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// pick returns one of the list.
func pick[T any](d dice, list []T) T { return list[d.IntN(len(list))] }

// weighted is something that happens so often beside others.
type weighted[T any] struct {
	weight int
	value  T
}

// draw returns one of the list, by weight.
func draw[T any](d dice, list []weighted[T]) T {
	total := 0
	for _, w := range list {
		total += w.weight
	}
	n := d.IntN(total)
	for _, w := range list {
		if n -= w.weight; n < 0 {
			return w.value
		}
	}
	panic("a number below the sum of the weights is among them")
}

// texts are hostile as values of any string: escapes of keys, separators, sentinels, bounds of Unicode.
var texts = []string{
	"", " ", "/", "#", "%", "%25", "~current", "~", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\uffff", "\U0010ffff",
	"a/b", "a\x00b", "é", "e\u0301", "\u202eabc", "👩‍👩‍👧‍👦", "null", "undefined", "-0", "NaN", "1e400",
	"9223372036854775808",
	"' OR 1=1 --", "<script>alert(1)</script>", "${jndi:x}", "../../etc/passwd", "{{7*7}}", "\"", "\\", "\\u0000", "\r\n",
	"2024-02-30", "2024-13", "9999-12-31T23:59:59.999999999Z", "0000-01-01", "2024-06-30T24:00:00Z",
	"2024-06-30T10:00:00+99:99",
}

// text returns a hostile string; a few are long, and a few no UTF-8.
func (d dice) text() string {
	switch n := d.IntN(100); {
	case n < 2:
		return strings.Repeat(pick(d, texts)+"x", 1+d.IntN(3000))
	case n < 6:
		return pick(d, texts) + string([]byte{0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80}[d.IntN(3):])
	case n < 30:
		return pick(d, texts) + pick(d, texts)
	}
	return pick(d, texts)
}

// bytes mutates a text without knowing what it says.
func (d dice) bytes(text string) string {
	for range 1 + d.IntN(3) {
		if text == "" {
			return d.text()
		}
		at := d.IntN(len(text))
		to := at + 1 + d.IntN(min(16, len(text)-at))
		switch d.IntN(7) {
		case 0: // flip a bit
			text = text[:at] + string([]byte{text[at] ^ 1<<d.IntN(8)}) + text[at+1:]
		case 1:
			text = text[:at] + text[to:]
		case 2:
			text = text[:to] + text[at:]
		case 3:
			text = text[:at] + d.text() + text[at:]
		case 4:
			text = text[:at]
		case 5: // any byte
			text = text[:at] + string([]byte{byte(d.IntN(256))}) + text[at+1:]
		case 6: // swap
			text = text[:at] + text[to:] + text[at:to]
		}
	}
	return text
}

// changed is bytes, until the text is another one.
func (d dice) changed(text string) string {
	for {
		if other := d.bytes(text); other != text {
			return other
		}
	}
}

// quoted writes a string as JSON and GraphQL have it, and leaves bytes that are no UTF-8 as they are.
func quoted(text string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			b.WriteString(`\u00`)
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
