package handle_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iolane/iolane/handle"
)

var (
	_ encoding.TextMarshaler   = handle.ID{}
	_ encoding.TextUnmarshaler = (*handle.ID)(nil)
	_ fmt.Stringer             = handle.ID{}
)

var (
	edges64 = []uint64{0, 1, 9, 10, 15, 16, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	edges32 = []uint32{0, 1, 9, 10, math.MaxUint16, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32}
)

// edgeIDs are all IDs made of edge values, each once, the zero ID among them.
func edgeIDs() []handle.ID {
	var ids []handle.ID
	for _, scope := range edges64 {
		for _, slot := range edges32 {
			for _, gen := range edges32 {
				ids = append(ids, handle.Make(scope, slot, gen))
			}
		}
	}
	return ids
}

func TestPartsAreWhatTheIDWasMadeOf(t *testing.T) {
	for _, scope := range edges64 {
		for _, slot := range edges32 {
			for _, gen := range edges32 {
				id := handle.Make(scope, slot, gen)
				if id.Scope() != scope || id.Slot() != slot || id.Generation() != gen {
					t.Errorf("Make(%d, %d, %d) has the parts %d, %d, %d", scope, slot, gen, id.Scope(), id.Slot(), id.Generation())
				}
			}
		}
	}
}

func TestTextFormIsScopeInHexSlotAndGenerationInDecimal(t *testing.T) {
	for _, test := range []struct {
		id   handle.ID
		want string
	}{
		{handle.ID{}, "h0"},
		{handle.Make(0, 0, 1), "h0.0.1"},
		{handle.Make(0, 1, 0), "h0.1.0"},
		{handle.Make(1, 0, 0), "h1.0.0"},
		{handle.Make(0x1f3a9c0d5e7b2468, 17, 3), "h1f3a9c0d5e7b2468.17.3"},
		{handle.Make(math.MaxUint64, math.MaxUint32, math.MaxUint32), "hffffffffffffffff.4294967295.4294967295"},
	} {
		if got := test.id.String(); got != test.want {
			t.Errorf("String() = %q, want %q", got, test.want)
		}
		if got := fmt.Sprintf("%v %s", test.id, test.id); got != test.want+" "+test.want {
			t.Errorf("fmt prints %q, want %q twice", got, test.want)
		}
	}
}

func TestEveryIDReadsBackFromItsText(t *testing.T) {
	for _, id := range edgeIDs() {
		if got, err := handle.Parse(id.String()); got != id || err != nil {
			t.Errorf("Parse(%q) = %v, %v", id, got, err)
		}
		text, err := id.MarshalText()
		if err != nil || string(text) != id.String() {
			t.Errorf("MarshalText of %v = %q, %v", id, text, err)
		}
		got := handle.Make(7, 7, 7)
		if err := got.UnmarshalText(text); got != id || err != nil {
			t.Errorf("UnmarshalText(%q) gives %v, %v", text, got, err)
		}
	}
}

// Within a scope the uint64 form and the ID are the same thing, for every ID but
// those with slot and generation zero, which no pool gives out.
func TestEveryIDReadsBackFromItsUint64InItsScope(t *testing.T) {
	for _, id := range edgeIDs() {
		got, want := handle.FromUint64(id.Scope(), id.Uint64()), id
		if id.Slot() == 0 && id.Generation() == 0 {
			want = handle.ID{}
		}
		if got != want {
			t.Errorf("FromUint64(%#x, %d) = %v, want %v", id.Scope(), id.Uint64(), got, want)
		}
	}
}

func TestEveryUint64IsTheFormOfTheIDReadFromIt(t *testing.T) {
	for _, scope := range edges64 {
		for _, u := range edges64 {
			id := handle.FromUint64(scope, u)
			if got := id.Uint64(); got != u {
				t.Errorf("FromUint64(%#x, %d).Uint64() = %d", scope, u, got)
			}
			if u != 0 && id.Scope() != scope {
				t.Errorf("FromUint64(%#x, %d) is of scope %#x", scope, u, id.Scope())
			}
		}
	}
}

// A table of a 64-bit protocol has its own use for zero: no ID with a generation,
// which is every ID that a pool gave out, may look like it.
func TestUint64IsZeroForNoIDWithAGeneration(t *testing.T) {
	for _, id := range edgeIDs() {
		if id.Generation() != 0 && id.Uint64() == 0 {
			t.Errorf("Uint64 of %v is zero", id)
		}
	}
	if got := (handle.ID{}).Uint64(); got != 0 {
		t.Errorf("Uint64 of the zero ID = %d", got)
	}
	for _, scope := range edges64 {
		if got := handle.FromUint64(scope, 0); !got.IsZero() {
			t.Errorf("FromUint64(%#x, 0) = %v, want the zero ID", scope, got)
		}
	}
}

func TestOnlyTheZeroIDIsZero(t *testing.T) {
	var zero handle.ID
	for _, id := range edgeIDs() {
		if got, want := id.IsZero(), id.Scope() == 0 && id.Slot() == 0 && id.Generation() == 0; got != want || got != (id == zero) {
			t.Errorf("IsZero of %v = %t, want %t", id, got, want)
		}
	}
}

// Two IDs that differ in one bit of one part are two IDs in every form.
func TestOneBitOfAnyPartMakesAnotherID(t *testing.T) {
	for _, id := range []handle.ID{{}, handle.Make(0x1f3a9c0d5e7b2468, 17, 3), handle.Make(math.MaxUint64, math.MaxUint32, math.MaxUint32)} {
		differ := func(part string, bit int, other handle.ID) {
			if other == id || other.String() == id.String() {
				t.Errorf("bit %d of the %s makes no difference to %v", bit, part, id)
			}
			if part != "scope" && other.Uint64() == id.Uint64() {
				t.Errorf("bit %d of the %s makes no difference to the Uint64 of %v", bit, part, id)
			}
		}
		for bit := range 64 {
			differ("scope", bit, handle.Make(id.Scope()^1<<bit, id.Slot(), id.Generation()))
		}
		for bit := range 32 {
			differ("slot", bit, handle.Make(id.Scope(), id.Slot()^1<<bit, id.Generation()))
			differ("generation", bit, handle.Make(id.Scope(), id.Slot(), id.Generation()^1<<bit))
		}
	}
}

// nearMisses are texts that look like an ID, each wrong in one way. A second
// spelling of an ID would be a second key for it in somebody's table.
var nearMisses = map[string]string{
	"nothing":                          "",
	"prefix only":                      "h",
	"no prefix":                        "1f3a.17.3",
	"wrong prefix":                     "g1f3a.17.3",
	"capital prefix":                   "H1f3a.17.3",
	"two prefixes":                     "hh1f3a.17.3",
	"two parts":                        "h1f3a.17",
	"four parts":                       "h1f3a.17.3.0",
	"trailing dot":                     "h1f3a.17.3.",
	"leading dot":                      "h.1f3a.17.3",
	"no scope":                         "h.17.3",
	"no slot":                          "h1f3a..3",
	"no generation":                    "h1f3a.17.",
	"dots only":                        "h..",
	"other separator":                  "h1f3a:17:3",
	"plus before scope":                "h+1f3a.17.3",
	"plus before slot":                 "h1f3a.+17.3",
	"plus before generation":           "h1f3a.17.+3",
	"minus before scope":               "h-1f3a.17.3",
	"minus before slot":                "h1f3a.-17.3",
	"minus before generation":          "h1f3a.17.-3",
	"minus zero":                       "h1f3a.-0.3",
	"space in front":                   " h1f3a.17.3",
	"space behind":                     "h1f3a.17.3 ",
	"newline behind":                   "h1f3a.17.3\n",
	"NUL behind":                       "h1f3a.17.3\x00",
	"space inside":                     "h1f3a. 17.3",
	"capital digit":                    "h1F3a.17.3",
	"hexadecimal prefix":               "h0x1f3a.17.3",
	"underscore in scope":              "h1f_3a.17.3",
	"underscore in slot":               "h1f3a.1_7.3",
	"hexadecimal slot":                 "h1f3a.1f.3",
	"hexadecimal generation":           "h1f3a.17.a",
	"exponent":                         "h1f3a.1e1.3",
	"not hexadecimal":                  "h1g3a.17.3",
	"leading zero of scope":            "h01f3a.17.3",
	"leading zero of slot":             "h1f3a.017.3",
	"leading zero of generation":       "h1f3a.17.03",
	"zero written twice":               "h1f3a.00.3",
	"scope over 64 bits":               "h10000000000000000.17.3",
	"slot over 32 bits":                "h1f3a.4294967296.3",
	"generation over 32 bits":          "h1f3a.17.4294967296",
	"slot over 64 bits":                "h1f3a.18446744073709551633.3",
	"generation over 64 bits":          "h1f3a.17.18446744073709551619",
	"zero ID in long form":             "h0.0.0",
	"zero ID without prefix":           "0",
	"zero ID with two zeros":           "h00",
	"zero ID with a sign":              "h+0",
	"zero ID with a dot":               "h0.",
	"zero ID with a space":             "h0 ",
	"scope alone":                      "h1",
	"fullwidth digit":                  "h1f3a.1\uff17.3",
	"Arabic-Indic digit":               "h1f3a.\u0661\u0667.3",
	"fullwidth letter of scope":        "h1\uff463a.17.3",
	"fullwidth prefix":                 "\uff481f3a.17.3",
	"Cyrillic letter of scope":         "h1f3\u0430.17.3",
	"fullwidth dot":                    "h1f3a\uff0e17.3",
	"zero-width space":                 "h1f3a.17\u200b.3",
	"byte order mark":                  "\ufeffh1f3a.17.3",
	"invalid UTF-8":                    "h1f3a.17.3\xff",
	"quotes":                           `"h1f3a.17.3"`,
	"uint64 form":                      "73014444035",
	"as fmt prints the bare structure": "{7994 17 3}",
}

func TestNothingButTheExactTextIsTaken(t *testing.T) {
	for name, text := range nearMisses {
		id, err := handle.Parse(text)
		if err == nil || !id.IsZero() {
			t.Errorf("%s: Parse(%q) = %v, %v, want the zero ID and an error", name, text, id, err)
			continue
		}
		if e, ok := errors.AsType[*handle.ParseError](err); !ok || e.Text != text {
			t.Errorf("%s: the error of Parse(%q) is %#v", name, text, err)
		}
		if got, want := err.Error(), fmt.Sprintf("handle: not an ID: %q", text); got != want {
			t.Errorf("%s: text of the error = %q, want %q", name, got, want)
		}
	}
}

func TestUnmarshalTextLeavesTheIDAloneOnAnError(t *testing.T) {
	want := handle.Make(7, 8, 9)
	for name, text := range nearMisses {
		got := want
		err := got.UnmarshalText([]byte(text))
		if _, ok := errors.AsType[*handle.ParseError](err); !ok || got != want {
			t.Errorf("%s: UnmarshalText(%q) leaves %v, %v, want %v and a *ParseError", name, text, got, err, want)
		}
	}
}

// IDs come from clients. What a client sends costs no more than its own length.
func TestParseAllocatesLessThanItIsGiven(t *testing.T) {
	const size = 1 << 20
	text := "h" + strings.Repeat(".", size)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := handle.Parse(text)
	runtime.ReadMemStats(&after)

	if err == nil {
		t.Error("a megabyte of dots is an ID")
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > size {
		t.Errorf("Parse of %d bytes allocated %d", size, got)
	}
}

func TestJSONKeepsIDs(t *testing.T) {
	type open struct {
		File  handle.ID            `json:"file"`
		Owner handle.ID            `json:"owner,omitzero"`
		Names map[handle.ID]string `json:"names"`
		Next  *handle.ID           `json:"next"`
	}
	a, b := handle.Make(0x1f3a9c0d5e7b2468, 17, 3), handle.Make(math.MaxUint64, math.MaxUint32, math.MaxUint32)
	in := open{File: a, Names: map[handle.ID]string{a: "a", b: "b", {}: "none"}, Next: &b}

	text, err := json.Marshal(in)
	require.NoError(t, err)
	want := `{"file":"h1f3a9c0d5e7b2468.17.3",` +
		`"names":{"h0":"none","h1f3a9c0d5e7b2468.17.3":"a","hffffffffffffffff.4294967295.4294967295":"b"},` +
		`"next":"hffffffffffffffff.4294967295.4294967295"}`
	if string(text) != want {
		t.Errorf("JSON = %s, want %s", text, want)
	}

	var out open
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if out.File != a || !out.Owner.IsZero() || out.Next == nil || *out.Next != b ||
		len(out.Names) != 3 || out.Names[a] != "a" || out.Names[b] != "b" || out.Names[handle.ID{}] != "none" {
		t.Errorf("read back %+v, want %+v", out, in)
	}

	for _, bad := range []string{`{"file":"h0.0.0"}`, `{"file":17}`, `{"names":{"h01.2.3":""}}`} {
		if err := json.Unmarshal([]byte(bad), new(open)); err == nil {
			t.Errorf("JSON %s was taken", bad)
		}
	}
}

func TestIDsAreMapKeysByValue(t *testing.T) {
	ids := edgeIDs()
	places := make(map[handle.ID]int, len(ids))
	texts := make(map[string]int, len(ids))
	for i, id := range ids {
		places[id] = i
		texts[id.String()] = i
	}
	if len(places) != len(ids) || len(texts) != len(ids) {
		t.Fatalf("%d IDs make %d keys and %d texts", len(ids), len(places), len(texts))
	}
	for i, id := range ids {
		again := handle.Make(id.Scope(), id.Slot(), id.Generation())
		if got, ok := places[again]; !ok || got != i {
			t.Errorf("%v is found at %d, %t, want %d", again, got, ok, i)
		}
	}
}

func TestFormsOfAnIDCostNothingButTheText(t *testing.T) {
	id := handle.Make(0x1f3a9c0d5e7b2468, 17, 3)
	text := id.String()
	for _, test := range []struct {
		name string
		f    func()
		want float64
	}{
		{"Uint64 and back", func() { id = handle.FromUint64(id.Scope(), id.Uint64()) }, 0},
		{"String", func() { text = id.String() }, 1},
		{"String of the zero ID", func() { _ = handle.ID{}.String() }, 0},
	} {
		if got := testing.AllocsPerRun(100, test.f); got > test.want {
			t.Errorf("%s: %v allocations, want at most %v", test.name, got, test.want)
		}
	}
	if got, err := handle.Parse(text); got != id || err != nil {
		t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, id)
	}
}
