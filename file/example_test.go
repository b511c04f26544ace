package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iolane/iolane/file"
	"github.com/iolane/iolane/lane"
)

// A program writes a file, makes it durable, and gives it its name.
func Example() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{Threads: lane.Config{Name: "disk", Workers: 8}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()

	dir := tempDir()
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "greeting")
	if err := save(ctx, files, name, []byte("hello, file")); err != nil {
		fmt.Println(err)
		return
	}

	f, err := files.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	buf := make([]byte, 64)
	n, err := f.ReadAt(ctx, buf, 7)
	fmt.Printf("%s, %v\n", buf[:n], err)

	_, err = files.Open(ctx, name+".missing", os.O_RDONLY, 0)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// file, EOF
	// true
}

// save is the way to write a file of which nobody ever sees a part.
func save(ctx context.Context, files *file.Pool, name string, data []byte) (err error) {
	f, err := files.Create(ctx, name+".new")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(context.WithoutCancel(ctx))) }()
	if _, err := f.WriteAt(ctx, data, 0); err != nil {
		return err
	}
	if err := f.Datasync(ctx); err != nil { // not to be tried again: see the package documentation
		return err
	}
	return files.Rename(ctx, name+".new", name)
}

// The same program runs on every lane: the line that makes it is all that changes.
func ExampleConfig_lane() {
	threads := func() (lane.Lane, error) { return lane.NewThreads(lane.Config{Workers: 8}) }
	mayHang := func() (lane.Lane, error) {
		return lane.NewAbandoning(lane.AbandoningConfig{Config: lane.Config{Workers: 8}})
	}
	for _, newLane := range []func() (lane.Lane, error){threads, mayHang} {
		l, err := newLane()
		if err != nil {
			fmt.Println(err)
			return
		}
		files, err := file.NewPool(file.Config{Lane: l, OwnsLane: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		dir := tempDir()
		fmt.Println(save(context.Background(), files, filepath.Join(dir, "a"), []byte("a")))
		fmt.Println(files.Close(), os.RemoveAll(dir))
	}
	// Output:
	// <nil>
	// <nil> <nil>
	// <nil>
	// <nil> <nil>
}

// Operations are values: they can be made here and done there, one or many at a time.
func ExamplePool_DoAll() {
	files, f := open("0123456789")
	defer files.Close()

	var ops []file.Op
	for off := range int64(5) {
		ops = append(ops, file.ReadAt(f, make([]byte, 2), 2*off))
	}
	if err := files.DoAll(context.Background(), ops); err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range ops {
		fmt.Printf("%s ", op.Buf)
	}
	// Output: 01 23 45 67 89
}

// What is said by a File's methods can be said by an Op as well.
func ExamplePool_Do() {
	ctx := context.Background()
	files, f := open("hello")
	defer files.Close()

	op := file.Append(f, []byte(", file"))
	fmt.Println(files.Do(ctx, &op), op.N)
	op = file.Stat(f)
	fmt.Println(files.Do(ctx, &op), op.More.Info.Size)
	// Output:
	// <nil> 6
	// <nil> 11
}

// A fiber is a sequence of operations, done where that costs least.
func ExamplePool_Fiber() {
	files, f := open("one two three")
	defer files.Close()

	words := 1
	err := files.Fiber(context.Background(), func(ctx context.Context) error {
		for off := int64(0); ; off++ {
			var b [1]byte
			switch _, err := f.ReadAt(ctx, b[:], off); {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			case b[0] == ' ':
				words++
			}
		}
	})
	fmt.Println(words, err)
	// Output: 3 <nil>
}

// IO is for functions that read and write at offsets and know no contexts.
func ExampleFile_IO() {
	files, f := open("a head and a tail")
	defer files.Close()

	tail, err := io.ReadAll(io.NewSectionReader(f.IO(context.Background()), 13, 4))
	fmt.Printf("%s, %v\n", tail, err)
	// Output: tail, <nil>
}

// Two buffers are enough to read a file of any size.
func ExampleBuffers() {
	ctx := context.Background()
	files, f := open("some bytes")
	defer files.Close()
	buffers, err := file.NewBuffers(file.BuffersConfig{Count: 2, Size: 64 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}

	buf, err := buffers.Get(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := f.ReadAt(ctx, buf, 0)
	fmt.Printf("%s, %v\n", buf[:n], err)
	fmt.Println(buffers.Close())
	buffers.Put(buf)
	fmt.Println(buffers.Close())
	// Output:
	// some bytes, EOF
	// buffers, 1 of 2 out: not all are back
	// <nil>
}

// tempDir makes a directory for an example.
func tempDir() string {
	dir, err := os.MkdirTemp("", "iolane")
	if err != nil {
		panic(err)
	}
	return dir
}

// open makes a pool with a file that holds text. Its name is gone already.
func open(text string) (*file.Pool, *file.File) {
	dir := tempDir()
	defer func() { _ = os.RemoveAll(dir) }()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		panic(err)
	}
	f, err := files.Create(context.Background(), filepath.Join(dir, "f"))
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteAt(context.Background(), []byte(text), 0); err != nil {
		panic(err)
	}
	return files, f
}
