package main

import "testing"

func nastyTree(t *testing.T) string {
	t.Helper()
	return portableTree(t)
}
