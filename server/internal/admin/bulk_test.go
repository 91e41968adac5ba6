package admin

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/projection"
)

// goesOn is of a server that does not end.
func goesOn() bool { return false }

// TestSlowDeadLettersAreGoneThroughInSeveralRequests, each of which ends before its caller gives up, and goes on behind
// those that have failed again.
func TestSlowDeadLettersAreGoneThroughInSeveralRequests(t *testing.T) {
	var all []projection.DeadLetter
	for i := range 100 {
		all = append(all, projection.DeadLetter{Ref: fmt.Sprint("0@", i+1)})
	}
	for _, each := range []time.Duration{time.Second, bulkTime, 3 * bulkTime} {
		synctest.Test(t, func(t *testing.T) {
			var tried []string
			requests, left := 1, all
			for ; ; requests++ {
				begun := time.Now()
				answer := decideEach(t.Context(), left, &Filter{All: true}, goesOn, func(ref string) error {
					time.Sleep(each)
					tried = append(tried, ref)
					return errors.New("the projector fails")
				})
				if took := time.Since(begun); took >= bulkTime+each {
					t.Fatalf("with %s for each, a request takes %s", each, took)
				}
				if answer.Next == "" {
					break
				}
				for left[0].Ref != answer.Next {
					left = left[1:]
				}
				left = left[1:]
			}
			if want := len(all) * int(min(each, bulkTime)) / int(bulkTime); len(tried) != len(all) || requests < want {
				t.Errorf("with %s for each, %d of %d dead letters are tried in %d requests", each, len(tried), len(all), requests)
			}
			for i, ref := range tried {
				if ref != all[i].Ref {
					t.Fatalf("dead letter %d that is tried is %s, want %s", i, ref, all[i].Ref)
				}
			}
		})
	}
}

// TestNoOtherDeadLetterIsDecidedWhenTheCallerHasGone: what has begun is finished.
func TestNoOtherDeadLetterIsDecidedWhenTheCallerHasGone(t *testing.T) {
	ctx, gone := context.WithCancel(t.Context())
	page := []projection.DeadLetter{{Ref: "0@1"}, {Ref: "0@2"}}
	answer := decideEach(ctx, page, &Filter{All: true}, goesOn, func(string) error {
		gone()
		return nil
	})
	if answer.Done != 1 {
		t.Errorf("%d dead letters are decided, want 1", answer.Done)
	}
}

// TestAServerThatEndsLeavesTheDeadLettersThatItHasNotBegun, and says where to go on: nobody waits for a whole page.
func TestAServerThatEndsLeavesTheDeadLettersThatItHasNotBegun(t *testing.T) {
	var d Deciding
	page := []projection.DeadLetter{{Ref: "0@1"}, {Ref: "0@2"}}
	answer := decideEach(t.Context(), page, &Filter{All: true}, d.isOver, func(string) error {
		d.End()
		return nil
	})
	if answer.Done != 1 || answer.Next != "0@1" {
		t.Errorf("%d dead letters are decided, want 1, and to go on after %q", answer.Done, answer.Next)
	}
}

// TestADeadLetterThatIsGivenUpIsLeftToTheNextRequest, as nobody knows whether it would fail again.
func TestADeadLetterThatIsGivenUpIsLeftToTheNextRequest(t *testing.T) {
	page := []projection.DeadLetter{{Ref: "0@1"}, {Ref: "0@2"}}
	answer := decideEach(t.Context(), page, &Filter{All: true}, goesOn, func(ref string) error {
		if ref == "0@2" {
			return errGivenUp
		}
		return nil
	})
	if answer.Done != 1 || answer.Failed != 0 || answer.Next != "0@1" {
		t.Errorf("%d are decided, %d have failed, and the next request begins after %q; want 1, 0 and 0@1", answer.Done,
			answer.Failed, answer.Next)
	}
}
