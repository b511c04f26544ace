package fileop_test

import (
	"testing"

	"github.com/iolane/iolane/internal/fileop"
)

// rounds is how many of 1600 reads look into the page cache, when every so manieth of
// those that look finds its data there.
func rounds(f *fileop.File, hitEvery int) (looked int) {
	for range 1600 {
		if !f.Tries() {
			continue
		}
		if looked++; hitEvery > 0 && looked%hitEvery == 0 {
			f.Hit()
		} else {
			f.Miss()
		}
	}
	return looked
}

func TestOfAColdFileOneReadOfSixteenIsLookedFor(t *testing.T) {
	f := new(fileop.File)
	rounds(f, 0)
	if n := rounds(f, 0); n != 100 {
		t.Errorf("%d of 1600", n)
	}
	if n := rounds(f, 20); n > 200 {
		t.Errorf("%d of 1600 with a hit of 20", n)
	}
}

func TestOfAWarmFileEveryReadIsLookedFor(t *testing.T) {
	for _, every := range []int{1, 2, 4} {
		if n := rounds(new(fileop.File), every); n != 1600 {
			t.Errorf("a hit of %d: %d of 1600", every, n)
		}
	}
}

func TestAColdFileBecomesWarmAgain(t *testing.T) {
	f := new(fileop.File)
	rounds(f, 0)
	rounds(f, 1)
	if n := rounds(f, 1); n != 1600 {
		t.Errorf("%d of 1600", n)
	}
}

func TestWhatCannotTellIsNotAskedAgain(t *testing.T) {
	f := new(fileop.File)
	f.Warm.Store(fileop.Unavailable)
	f.Hit()
	f.Miss()
	if n := rounds(f, 1); n != 0 || f.Warm.Load() != fileop.Unavailable {
		t.Errorf("%d of 1600", n)
	}
}
