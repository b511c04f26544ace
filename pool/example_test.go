package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/iolane/iolane/ioerr"
	"github.com/iolane/iolane/lane"
	"github.com/iolane/iolane/pool"
)

// A program reads a file whose handle it keeps, and another one once, at most four
// calls at a time, and closes everything at the end.
func Example() {
	ctx := context.Background()
	name := tempFile("hello, file")

	files, err := pool.New(pool.Config[*os.File]{
		Threads: lane.Config{Name: "disk", Workers: 4},
		Dispose: (*os.File).Close,
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// A call that needs no resource.
	data, err := pool.Run(ctx, files, func(context.Context) ([]byte, error) {
		return os.ReadFile(name)
	})
	fmt.Printf("%s, %v\n", data, err)

	// A resource that the pool owns, and two transactions on it.
	id, err := files.Register(ctx, func(context.Context) (*os.File, error) {
		return os.Open(name)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		text, err := pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (string, error) {
			buf := make([]byte, 6)
			n, err := f.Read(buf)
			return string(buf[:n]), err
		})
		fmt.Printf("%q, %v\n", text, err)
	}

	// What went wrong, and whether it ran.
	_, err = pool.Run(ctx, files, func(context.Context) ([]byte, error) {
		return os.ReadFile("/no/such/file")
	})
	if e, ok := errors.AsType[*ioerr.Error](err); ok {
		fmt.Println(errors.Is(err, fs.ErrNotExist), e.Origin, e.Effect)
	}

	// The file is closed here.
	fmt.Println(files.Close())
	// Output:
	// hello, file, <nil>
	// "hello,", <nil>
	// " file", <nil>
	// true call done
	// <nil>
}

func ExampleNew() {
	// Two pools share a lane of 16 slots: 16 calls at a time, whoever makes them.
	l, err := lane.NewThreads(lane.Config{Name: "nfs", Workers: 16})
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := pool.New(pool.Config[*os.File]{Lane: l, Dispose: (*os.File).Close})
	if err != nil {
		fmt.Println(err)
		return
	}
	locks, err := pool.New(pool.Config[*os.File]{Lane: l, Dispose: unlock})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(files.Close(), locks.Close(), l.Shutdown(context.Background()))

	// A mistake is told by the name of the field.
	_, err = pool.New(pool.Config[*os.File]{Waiters: -5})
	fmt.Println(err)
	// Output:
	// <nil> <nil> <nil>
	// pool: pool.Config.Waiters: -5: must be 1 to 2^26, 0 for the default, or lane.NoWaiters
}

func ExampleRun() {
	files := newFiles()
	defer files.Close()

	info, err := pool.Run(context.Background(), files, func(context.Context) (fs.FileInfo, error) {
		return os.Stat(tempFile("12345"))
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Size())
	// Output: 5
}

func ExamplePool_Do() {
	files := newFiles()
	defer files.Close()

	name := tempFile("")
	err := files.Do(context.Background(), func(context.Context) error {
		return os.Remove(name)
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleTransact() {
	ctx := context.Background()
	files := newFiles()
	defer files.Close()
	id, err := files.Adopt(open(tempFile("abcdef")))
	if err != nil {
		fmt.Println(err)
		return
	}

	// Nobody else uses the file meanwhile, so seeking and reading belong together.
	tail := func(n int64) (string, error) {
		return pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (string, error) {
			if _, err := f.Seek(-n, 2); err != nil {
				return "", err
			}
			buf := make([]byte, n)
			_, err := f.Read(buf)
			return string(buf), err
		})
	}
	fmt.Println(tail(3))
	fmt.Println(tail(1))
	// Output:
	// def <nil>
	// f <nil>
}

func ExamplePool_With() {
	ctx := context.Background()
	files := newFiles()
	defer files.Close()
	id, err := files.Adopt(open(tempFile("")))
	if err != nil {
		fmt.Println(err)
		return
	}

	err = files.With(ctx, id, func(_ context.Context, f *os.File) error {
		if _, err := f.WriteString("saved"); err != nil {
			return err
		}
		return f.Sync()
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleScoped() {
	files := newFiles()
	defer files.Close()

	// Open, use and close are one call, which takes one slot. The file is closed
	// whatever happens, and if that fails, the error tells.
	name := tempFile("")
	n, err := pool.Scoped(context.Background(), files,
		func(context.Context) (*os.File, error) { return os.Create(name) },
		func(_ context.Context, f *os.File) (int, error) { return f.WriteString("hello") },
		(*os.File).Close)
	fmt.Println(n, err)
	// Output: 5 <nil>
}

func ExamplePool_Register() {
	ctx := context.Background()
	files := newFiles()
	defer files.Close()

	name := tempFile("")
	id, err := files.Register(ctx, func(context.Context) (*os.File, error) {
		return os.Open(name)
	})
	fmt.Println(files.Has(id), err)

	_, err = files.Register(ctx, func(context.Context) (*os.File, error) {
		return os.Open("/no/such/file")
	})
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// true <nil>
	// true
}

func ExamplePool_Adopt() {
	files := newFiles()
	f := open(tempFile(""))
	id, err := files.Adopt(f)
	if err != nil {
		f.Close() // it stays ours
		return
	}
	fmt.Println(files.Has(id))

	files.Close()
	_, err = f.Stat()
	fmt.Println(errors.Is(err, fs.ErrClosed))
	// Output:
	// true
	// true
}

func ExamplePool_Replace() {
	ctx := context.Background()
	files := newFiles()
	defer files.Close()
	name := tempFile("old")
	id, err := files.Adopt(open(name))
	if err != nil {
		fmt.Println(err)
		return
	}

	// A log file has been rotated: open the new one under the same ID.
	if err := os.Rename(tempFile("new"), name); err != nil {
		fmt.Println(err)
		return
	}
	err = files.Replace(ctx, id, func(_ context.Context, old *os.File) (*os.File, error) {
		return os.Open(old.Name())
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Transact(ctx, files, id, func(_ context.Context, f *os.File) (string, error) {
		buf := make([]byte, 3)
		_, err := f.Read(buf)
		return string(buf), err
	}))
	// Output: new <nil>
}

func ExamplePool_Destroy() {
	ctx := context.Background()
	files := newFiles()
	defer files.Close()
	f := open(tempFile(""))
	id, err := files.Adopt(f)
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(files.Destroy(ctx, id)) // closes the file
	fmt.Println(files.Destroy(ctx, id)) // idempotent
	err = files.With(ctx, id, func(context.Context, *os.File) error { return nil })
	fmt.Println(errors.Is(err, ioerr.ErrHandleNotFound))

	// A hook that fails is the error of Destroy.
	id, err = files.Adopt(f) // which is closed already
	if err != nil {
		fmt.Println(err)
		return
	}
	err = files.Destroy(ctx, id)
	hook, ok := errors.AsType[*ioerr.HookError](err)
	fmt.Println(ok && hook.Handle == id, errors.Is(err, fs.ErrClosed))
	// Output:
	// <nil>
	// <nil>
	// true
	// true true
}

func ExamplePool_Has() {
	files := newFiles()
	defer files.Close()
	id, err := files.Adopt(open(tempFile("")))
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(files.Has(id))
	if err := files.Destroy(context.Background(), id); err != nil {
		fmt.Println(err)
	}
	fmt.Println(files.Has(id))
	// Output:
	// true
	// false
}

func ExamplePool_IDFromUint64() {
	files := newFiles()
	defer files.Close()
	id, err := files.Adopt(open(tempFile("")))
	if err != nil {
		fmt.Println(err)
		return
	}

	number := id.Uint64() // for a protocol that has room for 64 bits
	fmt.Println(files.IDFromUint64(number) == id)
	// Output: true
}

// newFiles, open, unlock and tempFile stand for what a program has anyway.
func newFiles() *pool.Pool[*os.File] {
	files, err := pool.New(pool.Config[*os.File]{Dispose: (*os.File).Close, HookWithin: 10 * time.Second})
	if err != nil {
		panic(err)
	}
	return files
}

func open(name string) *os.File {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	return f
}

func unlock(f *os.File) error { return f.Close() }

// tempFile makes a file in a directory that TestMain removes.
func tempFile(content string) string {
	dir, err := os.MkdirTemp(tempDir, "")
	if err != nil {
		panic(err)
	}
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		panic(err)
	}
	return name
}
