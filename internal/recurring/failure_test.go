package recurring

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestAReasonIsNewsOnceAMinute, however often it comes between others, and whatever numbers are in it.
func TestAReasonIsNewsOnceAMinute(t *testing.T) {
	var f Failure
	at := time.Unix(0, 0)
	for i, c := range []struct {
		after  time.Duration
		reason string
		isNews bool
	}{
		{0, "dial 10.0.0.5:1712: refused", true},
		{time.Second, "dial 10.0.0.5:1713: refused", false},
		{time.Second, "throttled, RequestID: 7A", true},
		{time.Second, "dial 10.0.0.5:1714: refused", false},
		{time.Second, "throttled, RequestID: 8B", false},
		{time.Minute, "throttled, RequestID: 9C", true},
		{time.Second, "throttled, RequestID: 9D", false},
		{-time.Hour, "throttled, RequestID: 9E", true},
	} {
		at = at.Add(c.after)
		if got := f.IsNews(at, errors.New(c.reason)); got != c.isNews {
			t.Errorf("%d. %q is news: %t, want %t", i, c.reason, got, c.isNews)
		}
	}
	if !f.Ends() || f.Ends() {
		t.Error("that it succeeds again is to be news once")
	}
	if f.IsNews(at, errors.New("throttled, RequestID: 9F")) || f.Ends() {
		t.Error("what fails and succeeds in turns is news each time")
	}
}

// TestManyReasonsAreNotAllNews: each may be another one, as where it quotes an event.
func TestManyReasonsAreNotAllNews(t *testing.T) {
	var f Failure
	news := 0
	for i := range 1000 {
		if f.IsNews(time.Unix(0, 0), fmt.Errorf("reason %c", 'a'+i)) {
			news++
		}
	}
	if news != mostReasons {
		t.Errorf("%d of 1000 reasons are news, want %d", news, mostReasons)
	}
}
