package lane

import (
	"fmt"
	"testing"
)

// TestKeysSpreadOverTheShards: names as people give them, which differ in their
// last letters only, do not crowd on a few shards; and neither do handles, whose
// numbers differ in the upper half (slot) or the lower one (generation).
func TestKeysSpreadOverTheShards(t *testing.T) {
	for _, format := range []string{"sd%c", "nvme%c", "/mnt/%c", "tenant-%c", "%c"} {
		for _, shards := range []int{2, 4, 8, 16} {
			spread(t, fmt.Sprintf(format, '*'), shards, func(i int) Call {
				return Call{Key: fmt.Sprintf(format, rune('a'+i))}
			})
		}
	}
	for name, shift := range map[string]int{"slots": 32, "generations": 0} {
		for _, shards := range []int{2, 3, 4, 8, 16} {
			spread(t, name, shards, func(i int) Call { return Call{Handle: uint64(i+1) << shift} })
		}
	}
}

// spread puts 16 calls for each shard into a lane and checks that no shard gets
// more than three times its part, nor nothing.
func spread(t *testing.T, name string, shards int, call func(int) Call) {
	t.Helper()
	l, err := NewSharded(ShardedConfig{Shards: shards})
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[any]int)
	for i := range 16 * shards {
		c := call(i)
		count[l.pick(&c)]++
	}
	for _, n := range count {
		if n > 3*16 {
			t.Errorf("%s over %d shards: one has %d of %d", name, shards, n, 16*shards)
		}
	}
	if len(count) < shards {
		t.Errorf("%s over %d shards: only %d are used", name, shards, len(count))
	}
}
