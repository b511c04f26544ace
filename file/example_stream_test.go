package file_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/iolane/iolane/file"
)

// This program counts the lines of a file, which is read ahead while they are counted.
func ExampleReader() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()

	name := poem()
	defer os.RemoveAll(filepath.Dir(name))
	f, err := files.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	r, err := file.NewReader(ctx, f, file.StreamConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	n := 0
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		n++
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "lines")
	// Output: 4 lines
}

// This program compresses a file. Reading, compressing and writing go on at the same time,
// and what was accepted is durable when Sync has returned nil.
func ExampleWriter() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()

	compress := func(from, to string) (err error) {
		src, err := files.Open(ctx, from, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer src.Close(ctx)
		dst, err := files.Create(ctx, to)
		if err != nil {
			return err
		}
		defer dst.Close(ctx)

		r, err := file.NewReader(ctx, src, file.StreamConfig{})
		if err != nil {
			return err
		}
		defer r.Close()
		w, err := file.NewWriter(ctx, dst, file.StreamConfig{})
		if err != nil {
			return err
		}
		defer w.Close()

		zip := gzip.NewWriter(w)
		if _, err := io.Copy(zip, r); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		return w.Sync() // after which there is nothing left for Close to fail with
	}
	from := poem()
	defer os.RemoveAll(filepath.Dir(from))
	if err := compress(from, from+".gz"); err != nil {
		log.Fatal(err)
	}

	zipped, err := os.Open(from + ".gz")
	if err != nil {
		log.Fatal(err)
	}
	defer zipped.Close()
	unzip, err := gzip.NewReader(zipped)
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(unzip)
	fmt.Println(strings.Count(string(text), "\n"), "lines", err)
	// Output: 4 lines <nil>
}

// This program reads three words out of a file; the first two lie so near to one another
// that they are one read.
func ExamplePool_ReadMany() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()

	name := poem()
	defer os.RemoveAll(filepath.Dir(name))
	f, err := files.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		log.Fatal(err)
	}
	words := []file.ReadRequest{
		{File: f, Offset: 21, Length: 6},
		{File: f, Offset: 6, Length: 5},
		{File: f, Offset: 1 << 20, Length: 4},
	}
	for i, word := range files.ReadMany(ctx, words, file.ReadManyConfig{MaxGap: 4096}) {
		fmt.Printf("%d: %q, %v\n", i, word.Data, word.Err)
	}
	// Output:
	// 0: "bright", <nil>
	// 1: "Tyger", <nil>
	// 2: "", EOF
}

// poem makes a file with some text.
func poem() string {
	dir, err := os.MkdirTemp("", "poem")
	if err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(dir, "tyger")
	const text = "Tyger Tyger, burning bright,\nIn the forests of the night;\n" +
		"What immortal hand or eye,\nCould frame thy fearful symmetry?\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	return name
}
