//go:build race

package uring

// raceDetector makes everything ten times slower.
const raceDetector = true
