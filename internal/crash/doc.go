// Package crash proves that nothing acknowledged is lost and nothing doubled. Its tests kill the real binary, a process
// that is fed over HTTP, at random moments, and take the power away from log, fold and store on a file system that drops
// what was not synced; then they compare what is there in the end, key by key, with what an undisturbed run leaves.
package crash
