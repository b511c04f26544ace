//go:build !unix

package lanetest

func blockingCallsKeepTheBound(h *hall) { h.Skip("there are no pipes that block a thread here") }
