package file_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/iolane/iolane/file"
)

// This program counts the lines of a file, which is read ahead while they are counted.
func ExampleReader() {
	withPoem(func(ctx context.Context, files *file.Pool, name string) error {
		f, err := files.Open(ctx, name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		r, err := file.NewReader(ctx, f, file.StreamConfig{})
		if err != nil {
			return err
		}
		n := 0
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			n++
		}
		fmt.Println(n, "lines")
		return errors.Join(lines.Err(), r.Close(), f.Close(ctx))
	})
	// Output: 4 lines
}

// This program compresses a file. Reading, compressing and writing go on at the same time,
// and all of it is durable when Sync has returned nil.
func ExampleWriter() {
	withPoem(func(ctx context.Context, files *file.Pool, name string) error {
		src, err := files.Open(ctx, name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		dst, err := files.Create(ctx, name+".gz")
		if err != nil {
			return err
		}
		r, err := file.NewReader(ctx, src, file.StreamConfig{})
		if err != nil {
			return err
		}
		defer r.Close()
		w, err := file.NewWriter(ctx, dst, file.StreamConfig{})
		if err != nil {
			return err
		}
		zip := gzip.NewWriter(w)
		_, err = io.Copy(zip, r)
		err = errors.Join(err, zip.Close(), w.Sync(), w.Close())
		fmt.Println("compressed:", err == nil)
		return err
	})
	// Output: compressed: true
}

// This program reads three words out of a file. The first two lie so near to one another
// that they are one read.
func ExamplePool_ReadMany() {
	withPoem(func(ctx context.Context, files *file.Pool, name string) error {
		f, err := files.Open(ctx, name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		words := []file.ReadRequest{
			{File: f, Offset: 21, Length: 6},
			{File: f, Offset: 6, Length: 5},
			{File: f, Offset: 1 << 20, Length: 4},
		}
		for i, word := range files.ReadMany(ctx, words, file.ReadManyConfig{MaxGap: 4096}) {
			fmt.Printf("%d: %q, %v\n", i, word.Data, word.Err)
		}
		return f.Close(ctx)
	})
	// Output:
	// 0: "bright", <nil>
	// 1: "Tyger", <nil>
	// 2: "", EOF
}

// withPoem runs an example with a pool and a file with some text.
func withPoem(example func(ctx context.Context, files *file.Pool, name string) error) {
	const text = "Tyger Tyger, burning bright,\nIn the forests of the night;\n" +
		"What immortal hand or eye,\nCould frame thy fearful symmetry?\n"
	err := func() error {
		dir, err := os.MkdirTemp("", "poem")
		if err != nil {
			return err
		}
		name := filepath.Join(dir, "tyger")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		files, err := file.NewPool(file.Config{})
		if err != nil {
			return err
		}
		return errors.Join(example(context.Background(), files, name), files.Close(), os.RemoveAll(dir))
	}()
	if err != nil {
		fmt.Println(err)
	}
}
