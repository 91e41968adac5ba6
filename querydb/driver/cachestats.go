package driver

// CacheStats tells what a cache of rows has been good for since the store was opened.
type CacheStats struct {
	Hits, Misses uint64 // keys that reads for clients found in it, or did not
	// PageHits and PageMisses are pages that it had, or had not, of those that it may keep.
	PageHits, PageMisses uint64
	Rows                 int    // that are in it, keys under which there is no row, and partitions of which it has pages
	Bytes                uint64 // that they take, about
}
