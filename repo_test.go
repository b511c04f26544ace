package iolane

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines is where a file holds more than one idea. The aim is 300.
const maxLines = 400

// goFiles returns the paths of all Go files of the repository, also those of the
// modules beside the core.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEachPackageHasOnePackageComment(t *testing.T) {
	type pkg struct{ dir, name string }
	comments := make(map[pkg][]string)
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		p := pkg{filepath.Dir(path), f.Name.Name}
		found := comments[p]
		if f.Doc != nil {
			found = append(found, path)
		}
		comments[p] = found
	}
	for p, found := range comments {
		switch len(found) {
		case 0:
			t.Errorf("%s: package %s has no package comment", p.dir, p.name)
		case 1:
		default:
			t.Errorf("%s: package %s has more than one package comment: %s", p.dir, p.name, strings.Join(found, ", "))
		}
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	for _, path := range goFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s: %d lines, more than %d: part it by ideas", path, n, maxLines)
		}
	}
}

// TestLawsHaveTheirTests: every test that docs/architecture.md names for a law
// exists in the package that it names.
func TestLawsHaveTheirTests(t *testing.T) {
	haveTests(t, "docs/architecture.md", "\\| `([a-z/]+)` \\| `(Test\\w+)` \\|", 30)
}

// TestPagesNameTestsThatExist: so does every test that docs/faults.md names, and each
// fault has one, or says why not.
func TestPagesNameTestsThatExist(t *testing.T) {
	const name = "docs/faults.md"
	haveTests(t, name, "`([a-z/]+)\\.(Test\\w+)`", 100)
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(page)) {
		if strings.Contains(row, "](https://") && !regexp.MustCompile("\\| `[a-z/]+\\.Test|\\| not yet|\\| never").MatchString(row) {
			t.Errorf("%s: no test: %s", name, row)
		}
	}
}

// haveTests checks that the tests that a page names exist: package and name are the
// groups of the pattern.
func haveTests(t *testing.T, name, pattern string, atLeast int) {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(page), -1)
	if len(found) < atLeast {
		t.Fatalf("%s: found only %d tests", name, len(found))
	}
	for _, test := range found {
		files, err := filepath.Glob(filepath.Join(test[1], "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %s has no tests", name, test[1])
		}
		exists := slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(source), "\nfunc "+test[2]+"(")
		})
		if !exists {
			t.Errorf("%s: %s has no %s", name, test[1], test[2])
		}
	}
}

// TestReadmeProgramCompiles: the program in the README is one that a reader can
// copy.
func TestReadmeProgramCompiles(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("there is no program")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, program[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
