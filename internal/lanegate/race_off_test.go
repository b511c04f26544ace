//go:build !race

package lanegate

const raceDetector = false
