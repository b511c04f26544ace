package main

import (
	"os"
	"strings"
	"testing"
)

func TestHelpPrintsTheUsage(t *testing.T) {
	want, err := os.ReadFile("testdata/usage.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := command(t.Context(), nil, "-help")
	wantStatus(t, got, exitOK)
	same(t, "usage", got.out, string(want))
}

func TestABadCommandLineIsStatus2(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "no directory given"},
		{"-nonsense", "flag provided but not defined: -nonsense"},
		{"-lane fast .", `invalid value "fast" for flag -lane: want one of threads, sharded, inline`},
		{"-progress yes .", `invalid value "yes" for flag -progress: want one of auto, always, never`},
		{"-workers many .", `invalid value "many" for flag -workers: parse error`},
		{"-quiet .", "-quiet is for -check only"},
		{"-check list dir", `-check takes no directories: "dir"`},
		{"-check=", "-check needs the name of a file, or -"},
		// The lane's own words.
		{"-workers -1 .", "lane.Config.Workers: -1: must be 1 to 65535"},
		{"-workers 65536 -lane sharded .", "lane.Config.Workers: 65536: must be"},
		{"-workers -1 -lane inline .", "-workers: -1: must not be negative"},
		{"-queue -2 .", "lane.Config.Queue: -2: must be"},
		{"-queue 16777217 -check list", "lane.Config.Queue: 16777217: must be"},
	} {
		got := command(t.Context(), nil, strings.Fields(test.args)...)
		if got.status != exitUsage || got.out != "" || !strings.HasPrefix(got.errors, "treesum: "+test.want) {
			t.Errorf("treesum %s: %+v, want status 2 and %q", test.args, got, test.want)
		}
	}
}
