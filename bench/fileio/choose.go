package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/iolane/iolane/bench/fileio/internal/contender"
	"github.com/iolane/iolane/bench/fileio/internal/work"
)

// wanted reports whether a name matches one of some patterns.
func wanted(patterns string) func(name string) bool {
	list := strings.Split(patterns, ",")
	return func(name string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			pattern = strings.TrimSpace(pattern)
			ok, err := path.Match(pattern, name)
			return pattern == "*" || ok && err == nil
		})
	}
}

// allUsed makes a pattern that matches nothing an error: it would be missed only when
// the hour is over.
func allUsed(patterns string, names []string) error {
	for pattern := range strings.SplitSeq(patterns, ",") {
		if !slices.ContainsFunc(names, wanted(pattern)) {
			return fmt.Errorf("nothing is called %q; see -list", pattern)
		}
	}
	return nil
}

// chooseCases returns the cases that were asked for: those that read first, since the
// others leave a file behind that not everybody's pattern is in.
func chooseCases(o options) ([]work.Case, error) {
	shapes := work.Shapes()
	if o.shapes != "all" {
		if err := allUsed(o.shapes, shapes); err != nil {
			return nil, err
		}
		shapes = slices.DeleteFunc(shapes, func(s string) bool { return !wanted(o.shapes)(s) })
	}
	var all []work.Case
	var names []string
	for _, shape := range shapes {
		for _, c := range work.Cases(shape, o.params) {
			names = append(names, c.Name)
			if wanted(o.cases)(c.Name) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b work.Case) int { return order(a) - order(b) })
	return all, allUsed(o.cases, names)
}

// order of a case: 0 before 1.
func order(c work.Case) int {
	if c.NeedsFile() && c.Kind == work.Write {
		return 1
	}
	return 0
}

// choosePeers returns the contenders that were asked for and are there, and the others
// with their reasons.
func choosePeers(o options) (there []contender.Contender, missing map[string]error, err error) {
	missing = make(map[string]error)
	var names []string
	for _, c := range contender.All() {
		names = append(names, c.Name)
		if !wanted(o.peers)(c.Name) {
			continue
		}
		if err := c.Missing(); err != nil {
			missing[c.Name] = err
			continue
		}
		there = append(there, c)
	}
	return there, missing, allUsed(o.peers, names)
}
