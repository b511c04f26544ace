//go:build race

package lanegate

// raceDetector makes sync.Pool drop what is put into it, now and then.
const raceDetector = true
