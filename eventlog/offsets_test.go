package eventlog

import "testing"

func TestOffsetsAreBehindThoseThatAreHigherInAnyPartition(t *testing.T) {
	for _, c := range []struct {
		at, others Offsets
		behind     bool
	}{
		{nil, nil, false},
		{nil, Offsets{"a": 0}, false},
		{nil, Offsets{"a": 1}, true},
		{Offsets{"a": 1}, nil, false},
		{Offsets{"a": 2}, Offsets{"a": 2}, false},
		{Offsets{"a": 2}, Offsets{"a": 3}, true},
		{Offsets{"a": 3}, Offsets{"a": 2}, false},
		{Offsets{"a": 9, "b": 1}, Offsets{"a": 1, "b": 2}, true},
		{Offsets{"a": 9, "b": 1}, Offsets{"b": 1}, false},
	} {
		if behind := c.at.Behind(c.others); behind != c.behind {
			t.Errorf("%v is behind %v: %t, want %t", c.at, c.others, behind, c.behind)
		}
	}
}
