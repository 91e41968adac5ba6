// Package crash proves that a server which is killed loses nothing and doubles nothing: its tests start the real binary
// as a process, feed it over HTTP, kill it at random moments, and compare what is on disk in the end, key by key, with
// what an undisturbed run leaves.
package crash
