package result

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestADrawingHasAPanelForEachShapeAndABarForEachPeer(t *testing.T) {
	f := load(t)
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "prefers-color-scheme: dark") {
		t.Error("has no colours for a dark background")
	}
	counts := make(map[string]int)
	var texts strings.Builder
	d := xml.NewDecoder(&b)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err) // not well-formed
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "class" {
					counts[token.Name.Local+"."+a.Value]++
				}
			}
		case xml.CharData:
			texts.Write(token)
		}
	}
	for what, want := range map[string]int{
		"rect.panel": len(f.Shapes),
		"rect.ours":  2 * len(f.Shapes),
		"rect.free":  len(f.Shapes),
		"rect.peer":  3 * len(f.Shapes),
		"path.cut":   1, // ants at dispatch takes more than ten times as long as ours
		"text.name":  4 * len(f.Shapes),
	} {
		if counts[what] != want {
			t.Errorf("%d of %s, want %d", counts[what], what, want)
		}
	}
	for _, want := range []string{"empty call & one caller", "22.0 ns", "(66.0 ns)", "1.73x"} {
		if !strings.Contains(texts.String(), want) {
			t.Errorf("does not say %q", want)
		}
	}
}

func TestADrawingOfNothingIsADrawing(t *testing.T) {
	var b bytes.Buffer
	if err := new(File).SVG(&b); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
		t.Error(err)
	}
}
