package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Up to 8 calls read one file at a time, each at a position of its own; it is closed when
// the last of them has ended.
func ExampleConfig_share() {
	ctx := context.Background()
	files, err := pool.New(pool.Config[*os.File]{
		Share:   8,
		Threads: lane.Config{Name: "disk", Workers: 4},
		Dispose: (*os.File).Close,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	name := tempFile("one two three ")
	id, err := files.Register(ctx, func(context.Context) (*os.File, error) { return os.Open(name) })
	if err != nil {
		fmt.Println(err)
		return
	}

	var words [3]string
	var errs [3]error
	var all sync.WaitGroup
	for i, at := range []int64{0, 4, 8} {
		all.Go(func() {
			words[i], errs[i] = pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (string, error) {
				var word string
				_, err := fmt.Fscan(io.NewSectionReader(f, at, 1<<10), &word)
				return word, err
			})
		})
	}
	all.Wait()
	fmt.Println(words, errors.Join(errs[:]...), files.Close())
	// Output: [one two three] <nil> <nil>
}
