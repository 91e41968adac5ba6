package driver

// CacheStats tells what a cache of rows has been good for since the store was opened.
type CacheStats struct {
	Hits, Misses uint64 // keys that reads for clients found in it, or did not
	Rows         int    // that are in it, and keys under which there is no row
	Bytes        uint64 // that they take, about
}
