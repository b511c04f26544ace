// Package linearize holds a test of the registry and nothing else: goroutines use
// one registry at the same time, and a checker (porcupine) looks for an order of
// their calls, one after another, in which each answer is right.
//
// It is a module of its own, so that the core does not require the checker.
package linearize
