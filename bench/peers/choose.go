package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/iolane/iolane/bench/peers/internal/peer"
	"github.com/iolane/iolane/bench/peers/internal/shape"
)

// wanted reports whether a name matches one of some patterns.
func wanted(patterns string) func(name string) bool {
	list := strings.Split(patterns, ",")
	return func(name string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			ok, err := path.Match(strings.TrimSpace(pattern), name)
			return ok && err == nil
		})
	}
}

// choose returns the shapes and peers that were asked for. A pattern that matches
// none is an error: it would be missed only when the hour is over.
func choose(o options) (shapes []shape.Shape, peers []peer.Maker, err error) {
	var names []string
	for _, s := range shape.All() {
		names = append(names, s.Name, s.Group)
		if is := wanted(o.shapes); is(s.Name) || is(s.Group) {
			shapes = append(shapes, s)
		}
	}
	if err := allUsed(o.shapes, names); err != nil {
		return nil, nil, err
	}
	names = nil
	for _, mk := range peer.All() {
		names = append(names, mk.Name)
		if wanted(o.peers)(mk.Name) {
			peers = append(peers, mk)
		}
	}
	return shapes, peers, allUsed(o.peers, names)
}

func allUsed(patterns string, names []string) error {
	for pattern := range strings.SplitSeq(patterns, ",") {
		if !slices.ContainsFunc(names, wanted(pattern)) {
			return fmt.Errorf("nothing is called %q; see -list", pattern)
		}
	}
	return nil
}

// fitting are the peers that can be measured at a shape.
func fitting(s shape.Shape, peers []peer.Maker) []peer.Maker {
	return slices.DeleteFunc(slices.Clone(peers), func(mk peer.Maker) bool { return !s.Fits(mk) })
}
