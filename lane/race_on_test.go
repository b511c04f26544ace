//go:build race

package lane_test

// raceDetector bounds tests with very many goroutines: it allows 8,128.
const raceDetector = true
