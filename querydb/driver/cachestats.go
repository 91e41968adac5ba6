package driver

// Remembering is a Driver that may answer a Get with rows as they were a while ago: see Get.NoCache.
type Remembering interface {
	// Remembers reports whether it does so now.
	Remembers() bool
}

// CacheStats tells what a cache of rows has been good for since the store was opened.
type CacheStats struct {
	Hits, Misses uint64 // keys that reads for clients found in it, or did not
	// PageHits and PageMisses are pages that it had, or had not, of those that it may keep.
	PageHits, PageMisses uint64
	// AnswerHits and AnswerMisses are answers that it had, or had not, or not any more.
	AnswerHits, AnswerMisses uint64
	Rows                     int    // that are in it, keys without a row, partitions of which it has pages, and answers
	Bytes                    uint64 // that they take, about
}
