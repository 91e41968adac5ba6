package keys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var testKey = TokenKey{1, 2, 3}

func TestATokenOpensUnderItsKeyAndBindingOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		binding := rapid.SliceOf(rapid.Byte()).Draw(t, "binding")
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		token := testKey.Seal(binding, payload)
		if got, err := testKey.Open(binding, token); err != nil || !bytes.Equal(got, payload) {
			t.Fatalf("Open = %x, %v, want %x", got, err, payload)
		}
		if token != testKey.Seal(binding, payload) {
			t.Fatal("sealing again gives another token")
		}
		other := append(bytes.Clone(binding), 0)
		if _, err := testKey.Open(other, token); !errors.Is(err, ErrInvalidToken) {
			t.Fatalf("under another binding: %v", err)
		}
		if _, err := (&TokenKey{9}).Open(binding, token); !errors.Is(err, ErrInvalidToken) {
			t.Fatalf("under another key: %v", err)
		}
	})
}

func TestAnyChangeOfATokenIsRefused(t *testing.T) {
	binding := []byte("query")
	token := testKey.Seal(binding, []byte("payload"))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range token {
		for _, c := range alphabet {
			changed := token[:i] + string(c) + token[i+1:]
			if changed == token {
				continue
			}
			if _, err := testKey.Open(binding, changed); !errors.Is(err, ErrInvalidToken) {
				t.Fatalf("%q changed to %q: %v", token, changed, err)
			}
		}
	}
	for _, other := range []string{"", "A", token[1:], token[:len(token)-1], token + "A", token + "=", token + "\n",
		" " + token, strings.Repeat("A", 5000)} {
		if _, err := testKey.Open(binding, other); !errors.Is(err, ErrInvalidToken) {
			t.Errorf("%.60q: %v", other, err)
		}
	}
}

func TestATokenHidesItsPayload(t *testing.T) {
	secret := "customer-77-secret"
	raw, err := tokenText.DecodeString(testKey.Seal(nil, []byte(secret)))
	if err != nil || bytes.Contains(raw, []byte(secret)) {
		t.Errorf("the token shows its payload: %q, %v", raw, err)
	}
}

func FuzzToken(f *testing.F) {
	f.Add([]byte("query"), testKey.Seal([]byte("query"), []byte("payload")))
	f.Add([]byte("query"), "AQ")
	f.Fuzz(func(t *testing.T, binding []byte, token string) {
		payload, err := testKey.Open(binding, token)
		if err == nil && testKey.Seal(binding, payload) != token {
			t.Fatalf("%q opens but was not sealed", token)
		}
		if err != nil && !errors.Is(err, ErrInvalidToken) {
			t.Fatal(err)
		}
	})
}

func TestAStartReadsBackAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("x", 300)))
		want := Cursor{
			Key{text.Draw(t, "pk"), text.Draw(t, "sk")},
			Key{text.Draw(t, "index pk"), text.Draw(t, "index sk")},
		}
		b := AppendCursor(nil, want)
		if got, err := ParseCursor(b); err != nil || got != want {
			t.Fatalf("ParseStart = %v, %v, want %v", got, err, want)
		}
		if _, err := ParseCursor(b[:len(b)-1]); !errors.Is(err, ErrInvalidToken) {
			t.Fatalf("cut short: %v", err)
		}
		if _, err := ParseCursor(append(b, 0)); !errors.Is(err, ErrInvalidToken) {
			t.Fatalf("with a byte too many: %v", err)
		}
	})
}

// TestAPaddedCursorTellsLittleOfTheLengthOfItsKeys, and reads back as one that is not padded, as tokens of before are.
func TestAPaddedCursorTellsLittleOfTheLengthOfItsKeys(t *testing.T) {
	for n := range MaxPK {
		long := strings.Repeat("k", n)
		for _, want := range []Cursor{{Key: Key{long, "s"}}, {Key{long, long[:n/2]}, Key{long, long[:n/2]}}} {
			bare, padded := AppendCursor(nil, want), AppendPaddedCursor([]byte("before"), want)[len("before"):]
			for _, b := range [][]byte{bare, padded} {
				if got, err := ParseCursor(b); err != nil || got != want {
					t.Fatalf("%d bytes: %v, %v; want %v", n, got, err, want)
				}
			}
			if len(padded)%paddedSize != 0 || len(padded)-len(bare) >= paddedSize {
				t.Errorf("a cursor of %d bytes is padded to %d", len(bare), len(padded))
			}
			for _, b := range [][]byte{padded[:len(padded)-1], append(padded, 0)} {
				if _, err := ParseCursor(b); !errors.Is(err, ErrInvalidToken) {
					t.Errorf("%x, cut short or with a byte too many: %v", b, err)
				}
			}
		}
	}
}

// TestEarlierVersionsReadAPaddedCursor, as servers of two versions may answer the same client.
func TestEarlierVersionsReadAPaddedCursor(t *testing.T) {
	want := Cursor{Key{"a", strings.Repeat("b", 200)}, Key{"", "d"}}
	b, got := AppendPaddedCursor(nil, want), Cursor{}
	for _, part := range []*string{&got.Key.PK, &got.Key.SK, &got.Index.PK, &got.Index.SK} { // as they do
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			t.Fatalf("of %x, a text has the size %d in %d bytes", b, size, n)
		}
		*part, b = string(b[n:][:size]), b[n:][size:]
	}
	if len(b) > 0 || got != want {
		t.Errorf("%v and %x behind it; want %v", got, b, want)
	}
}

func FuzzStart(f *testing.F) {
	f.Add(AppendCursor(nil, Cursor{Key{"a", "b"}, Key{"c", ""}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseCursor(b)
		if err != nil {
			return
		}
		if again, err := ParseCursor(AppendCursor(nil, s)); err != nil || again != s {
			t.Fatalf("%v reads back as %v, %v", s, again, err)
		}
	})
}

func BenchmarkToken(b *testing.B) {
	binding, payload := make([]byte, 100), make([]byte, 60)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := testKey.Open(binding, testKey.Seal(binding, payload)); err != nil {
			b.Fatal(err)
		}
	}
}
