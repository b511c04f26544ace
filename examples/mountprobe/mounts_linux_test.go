package main

import "testing"

func TestMountPointsAreUnescaped(t *testing.T) {
	for in, want := range map[string]string{"/a": "/a", `/a\040b`: "/a b", `/a\134`: `/a\`, `/a\04`: `/a\04`, `/a\999`: `/a\999`} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	paths, err := mounts()
	if err != nil || len(paths) == 0 || paths[0] == "" {
		t.Errorf("%q, %v", paths, err)
	}
}
