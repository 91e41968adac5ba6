package faultproxy

// Fault is something that befalls a request.
type Fault uint8

// What befalls requests. The order is that in which chance is asked.
const (
	None         Fault = iota
	Throttled          // refused, since there were too many
	Conflicted         // a write refused, since a transaction is under way on the same row
	FailedBefore       // answered with an error of the server, and not done
	FailedAfter        // answered with an error of the server, and done
	CutBefore          // the connection closed, the request not done
	CutAfter           // the connection closed, the request done
	CutAmid            // the connection closed in the middle of the answer
	Partly             // a batch done in part, the rest given back as unprocessed
	Twice              // a write delivered twice in a row; the answer is that to either
	Late               // a write answered, and delivered again some time later
	Delayed            // forwarded after a while
	Held               // a transaction forwarded only once some other writes have come in
	faults
)

var faultNames = [faults]string{
	"none", "throttled", "conflicted", "failed before", "failed after", "cut before", "cut after", "cut amid",
	"partly done",
	"twice", "late again", "delayed", "held",
}

func (f Fault) String() string { return faultNames[f] }

// befalls reports whether the fault can befall the request.
func (f Fault) befalls(r *request) bool {
	switch f {
	case Conflicted, Twice, Late:
		return r.writes()
	case Partly:
		return r.batches() && r.items() > 1
	case Held:
		return r.operation == "TransactWriteItems"
	}
	return true
}

// shows reports whether whoever sent the request learns that something went wrong.
func (f Fault) shows() bool { return f <= CutAmid && f != None }

// Rates are the chances, from 0 to 1, that a fault befalls a request that no fault before it in order has befallen.
type Rates [faults]float64

// Even returns Rates of one chance for every fault.
func Even(chance float64) Rates {
	var r Rates
	for f := None + 1; f < faults; f++ {
		r[f] = chance
	}
	return r
}
