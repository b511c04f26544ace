//go:build !race

package uring

const raceDetector = false
