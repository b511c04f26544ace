// Command quickstart shows the core of iolane on one page: a single call, a file
// that the pool owns, what an error tells, and the end.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	// At most 8 calls at a time; 100 more may wait for their turn.
	files, err := pool.New(pool.Config[*os.File]{
		Threads: lane.Config{Workers: 8, Queue: 100},
		Dispose: func(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) },
	})
	if err != nil {
		return err
	}
	// The end: what was accepted runs, every file is disposed of, or the error
	// says what is left.
	defer func() { err = errors.Join(err, files.Close()) }()

	// A single call.
	isDir, err := pool.Run(ctx, files, func(context.Context) (bool, error) {
		info, err := os.Stat(os.TempDir())
		return err == nil && info.IsDir(), err
	})
	fmt.Println("directory:", isDir, err)

	// A file that the pool owns: open it, have it to oneself, give it back.
	id, err := files.Register(ctx, func(context.Context) (*os.File, error) {
		return os.CreateTemp("", "quickstart-*")
	})
	if err != nil {
		return err
	}
	n, err := pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (int, error) {
		return f.WriteString("one at a time\n")
	})
	fmt.Println("written:", n, err)
	fmt.Println("destroyed:", files.Destroy(ctx, id))

	// What errors tell: what happened, and whether the call ran.
	explain(files.With(ctx, id, func(_ context.Context, f *os.File) error { return f.Sync() }))
	_, err = pool.Run(ctx, files, func(context.Context) ([]byte, error) {
		return os.ReadFile("/no/such/file")
	}, pool.Label("read"), pool.FailFast)
	explain(err)
	return nil
}

func explain(err error) {
	switch e, ok := errors.AsType[*ioerr.Error](err); {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Printf("no such file: %v, %v by the %v\n", e.Outcome, e.Effect, e.Origin)
	case errors.Is(err, ioerr.ErrHandleNotFound):
		fmt.Printf("destroyed: %v, %v by the %v\n", e.Outcome, e.Effect, e.Origin)
	case ok && e.Effect == ioerr.None:
		fmt.Println("it never ran and may be tried again:", err)
	default:
		fmt.Println(err)
	}
}
