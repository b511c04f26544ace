package file_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/iolane/iolane/file"
)

// Only what has data is read of a file with holes.
func ExampleFile_NextData() {
	ctx := context.Background()
	files, err := file.NewPool(file.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	dir := tempDir()
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := files.Create(ctx, filepath.Join(dir, "f"))
	if err == nil {
		_, err = f.WriteAt(ctx, []byte("hello"), 0)
	}
	for off := int64(0); err == nil; {
		var start, end int64
		if start, end, err = f.NextData(ctx, off); err == nil {
			fmt.Println("data from", start, "to", end)
			off = end
		}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Println(err)
	}
	// Output: data from 0 to 5
}
