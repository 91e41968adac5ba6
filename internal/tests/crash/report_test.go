package crash

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/internal/tests/faultproxy"
)

// report is what was survived.
type report struct {
	seeds, events              int
	kills, freezes, zombies    int // a zombie is woken when another server has done its work
	amid                       amid
	forgotten                  int // deleted rows whose tombstones had gone by then
	died, failedStarts         int
	deployed, reconnects       int // servers of the next release, and restarts of NATS
	decided                    int // dead letters that were retried or skipped
	lost, restored, diverted   int // rows that were lost or older, logs that were older, and that diverged
	rows, entries, deadLetters int // that were compared in the end
	plain                      int // rows, or where one was, that were compared with a plain fold
	answers                    int // verified, that servers gave meanwhile
	faults                     faultproxy.Counts
}

// amid are kills of servers that had last told of copies yet to follow, by the store: embedded or dynamodb.
type amid map[string]int

// add adds to the kills on a store; 0 says that a trial took place there.
func (a *amid) add(store string, kills int) {
	if *a == nil {
		*a = amid{}
	}
	(*a)[store] += kills
}

func (r *report) add(o *report) {
	r.seeds += o.seeds
	r.events += o.events
	r.kills += o.kills
	r.freezes += o.freezes
	r.zombies += o.zombies
	for store, n := range o.amid {
		r.amid.add(store, n)
	}
	r.forgotten += o.forgotten
	r.died += o.died
	r.failedStarts += o.failedStarts
	r.deployed += o.deployed
	r.reconnects += o.reconnects
	r.decided += o.decided
	r.lost += o.lost
	r.restored += o.restored
	r.diverted += o.diverted
	r.rows += o.rows
	r.entries += o.entries
	r.deadLetters += o.deadLetters
	r.plain += o.plain
	r.answers += o.answers
	r.faults.Add(o.faults)
}

// verified adds what was compared.
func (r *report) verified(v *verifier.Verdict) {
	r.answers += v.Answers
	r.plain += v.Plain
	for name, n := range v.Counts {
		if strings.Contains(name, "/") {
			r.entries += n
		} else {
			r.rows += n
		}
	}
	r.deadLetters += v.DeadLetters
}

func (r *report) String() string {
	s := fmt.Sprintf("%d seeds, %d events: survived %d kills, %d of them amid cascades on the embedded store and %d on "+
		"DynamoDB, %d freezes, %d of them until another server had done the work, and %d deleted rows were forgotten; "+
		"%d servers ended by themselves and %d did not start, for faults; %d events retried or skipped by command; "+
		"%d times rows were lost or older, %d times the log was older, %d times it diverged; %d times the next release "+
		"was deployed, and %d times NATS was restarted\n"+
		"compared %d rows, %d index entries, and %d answers that were given meanwhile; %d dead letters; %d rows with a "+
		"plain fold",
		r.seeds, r.events, r.kills, r.amid["embedded"], r.amid["dynamodb"], r.freezes, r.zombies, r.forgotten, r.died,
		r.failedStarts, r.decided, r.lost, r.restored, r.diverted,
		r.deployed, r.reconnects, r.rows, r.entries, r.answers, r.deadLetters, r.plain)
	if len(r.faults.Requests) > 0 {
		s += "\nDynamoDB: " + r.faults.String()
	}
	return s
}
