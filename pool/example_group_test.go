package pool_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// Two calls side by side: the second runs in the caller.
func ExampleAsync() {
	p, err := pool.New(pool.Config[struct{}]{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	ctx := context.Background()

	temporary := pool.Async(ctx, p, func(context.Context) (os.FileInfo, error) { return os.Stat(os.TempDir()) })
	root, err := pool.Run(ctx, p, func(context.Context) (os.FileInfo, error) { return os.Stat(string(filepath.Separator)) })
	if err != nil {
		panic(err)
	}
	info, err := temporary.Await(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(root.IsDir(), info.IsDir())
	// Output: true true
}

// A file that was opened too late is not lost: whoever cancels gets it.
func ExampleFuture_Cancel() {
	p, err := pool.New(pool.Config[struct{}]{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	f := pool.Async(context.Background(), p, func(context.Context) (*os.File, error) { return os.Open(os.DevNull) })
	if file, err := f.Cancel(); err == nil {
		fmt.Println("closed:", file.Close() == nil)
	} else {
		fmt.Println("closed:", file == nil)
	}
	// Output: closed: true
}

// Four files at a time; the first error calls the others off.
func ExamplePool_Group() {
	p, err := pool.New(pool.Config[struct{}]{Threads: lane.Config{Workers: 4}})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	ctx := context.Background()
	group, err := p.Group(pool.GroupConfig{})
	if err != nil {
		panic(err)
	}
	var files atomic.Int64
	names, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		err := group.Go(ctx, func(context.Context) error {
			_, err := os.ReadFile(name)
			files.Add(1)
			return err
		}, pool.Label(name))
		if err != nil {
			break // the group has been called off, and Wait says why
		}
	}
	if err := group.Wait(ctx); err != nil {
		panic(err)
	}
	fmt.Println(files.Load() == int64(len(names)))
	// Output: true
}

// Ten thousand calls wait for their time without a goroutine.
func ExampleGroup_After() {
	p, err := pool.New(pool.Config[struct{}]{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	ctx := context.Background()
	group, err := p.Group(pool.GroupConfig{})
	if err != nil {
		panic(err)
	}
	var n atomic.Int64
	for range 10_000 {
		if err := group.After(ctx, 10*time.Millisecond, func(context.Context) error { n.Add(1); return nil }); err != nil {
			panic(err)
		}
	}
	if err := group.Wait(ctx); err != nil {
		panic(err)
	}
	fmt.Println(n.Load())
	// Output: 10000
}
