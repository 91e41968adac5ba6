//go:build !race

package crash

// raceDetector says whether the tests run with it; the servers do then too.
const raceDetector = false
