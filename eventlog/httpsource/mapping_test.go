package httpsource_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// TestAnotherMappingAtTheServerMakesNoOtherLog: who follows it goes on, with what the mapping makes of later messages.
func TestAnotherMappingAtTheServerMakesNoOtherLog(t *testing.T) {
	log := func(mapping string, message string) eventlog.Source {
		all := sourcetest.Events(4)
		for i := range all {
			all[i].MessageHash, all[i].ID = message+all[i].ID, mapping+all[i].ID
		}
		l := memlog.New(memlog.Options{})
		if _, err := l.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		return l
	}
	for message, same := range map[string]bool{"message ": true, "other ": false} {
		up := serve(t, log("former-", "message "))
		src := open(t, up.url)
		first, err := src.Read(t.Context(), "0", 0, 2)
		if err != nil || len(first) != 2 || first[1].MessageHash != "message e1" {
			t.Fatalf("%+v, %v", first, err)
		}
		up.again(t, log("now-", message))
		rest, err := src.Read(t.Context(), "0", 2, 2)
		if eventlog.Replaced(err) == same {
			t.Errorf("of the messages %q: %v", message, err)
		}
		if same && (len(rest) != 2 || gocmp.Diff("now-e2", rest[0].ID) != "") {
			t.Errorf("the rest is %+v", rest)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}
