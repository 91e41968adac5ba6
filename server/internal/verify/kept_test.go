package verify

import "testing"

// TestAVerificationKeepsTheReserveOfTheServerOnItsDisksAlone: on that of temporary files nothing else needs it, and
// it may be more than that has.
func TestAVerificationKeepsTheReserveOfTheServerOnItsDisksAlone(t *testing.T) {
	for _, c := range []struct {
		reserve uint64
		shared  bool
		want    uint64
	}{
		{0, false, 128 << 20},
		{0, true, 128 << 20},
		{4 << 30, true, 4<<30 + 128<<20},
		{4 << 30, false, 128 << 20},
	} {
		v := &Verifier{Reserve: c.reserve, OnDisk: func(string) bool { return c.shared }}
		if got := v.kept(); got != c.want {
			t.Errorf("a reserve of %d, on the disk %t: %d are kept, want %d", c.reserve, c.shared, got, c.want)
		}
	}
}
