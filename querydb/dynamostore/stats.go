package dynamostore

// Stats counts what a Store has asked of DynamoDB since it was opened.
type Stats struct {
	Requests        uint64  // sent, retries included
	Retries         uint64  // requests that were sent again
	Throttled       uint64  // requests that DynamoDB refused for being too many, or left unprocessed
	ConditionFailed uint64  // writes that found another row than they were made of, or that had been applied before
	ReadUnits       float64 // consumed, as DynamoDB reports it
	Suspended       bool    // reads that somebody waits for are refused, because DynamoDB does not answer
	Suspensions     uint64  // how often that began
	WriteUnits      float64 // consumed by what took effect; DynamoDB does not report what a failed condition costs
}

// Stats returns what was asked of DynamoDB so far.
func (s *Store) Stats() Stats {
	n := &s.client.Counters
	suspended, times := s.client.Suspended()
	return Stats{
		Requests: n.Requests.Load(), Retries: n.Retries.Load(), Throttled: n.Throttled.Load(),
		Suspended: suspended, Suspensions: times, ConditionFailed: n.ConditionFailed.Load(),
		ReadUnits: float64(n.ReadUnits.Load()) / 1000, WriteUnits: float64(n.WriteUnits.Load()) / 1000,
	}
}
