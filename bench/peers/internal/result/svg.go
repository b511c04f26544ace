package result

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The drawing has columns of panels, a panel for each shape, and a bar for each peer.
const (
	panelWidth = 500
	gap        = 20
	columns    = 2
	labelWidth = 150 // names, to the left of the bars
	valueWidth = 150 // numbers, to their right
	barWidth   = panelWidth - labelWidth - valueWidth
	barHeight  = 12
	barStep    = 17
	headHeight = 46
	reach      = 10 // a bar ends at so many times our fastest
)

// style has the colours for a light and for a dark background.
const style = `
text { font: 11px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 13px; font-weight: 600 }
.about, .tail { fill: #59636e; font-size: 10px; font-weight: 400 }
.name { text-anchor: end }
.panel { fill: #ffffff; stroke: #d1d9e0 }
.axis { stroke: #d1d9e0 }
.ours { fill: #0969da }
.peer { fill: #8c959f }
.free { fill: #d1d9e0 }
.cut { stroke: #ffffff; stroke-width: 3; fill: none }
.us { font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.about, .tail { fill: #9198a1 }
.panel { fill: #0d1117; stroke: #3d444d }
.axis { stroke: #3d444d }
.ours { fill: #4493f8 }
.peer { fill: #6e7681 }
.free { fill: #3d444d }
.cut { stroke: #0d1117 }
}
`

// SVG draws a panel for each shape: the time of a call for each peer, the shortest
// on top. Ours stand out, and those without a bound step back. Bars that would be
// longer than ten times our fastest are cut.
func (f *File) SVG(w io.Writer) error {
	var panels strings.Builder
	var bottom [columns]int
	for i := range bottom {
		bottom[i] = gap
	}
	for _, s := range f.Shapes {
		bars := f.bars(s.Name)
		if len(bars) == 0 {
			continue
		}
		column := 0 // the one with the most room
		for i, y := range bottom {
			if y < bottom[column] {
				column = i
			}
		}
		height := headHeight + len(bars)*barStep + 8
		panel(&panels, s, bars, gap+column*(panelWidth+gap), bottom[column], height)
		bottom[column] += height + gap
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %[2]d" width="%[1]d" height="%[2]d" role="img">
<title>Time for each call, by shape and peer</title>
<style>%s</style>
%s</svg>
`, gap+columns*(panelWidth+gap), slices.Max(bottom[:])+20, style, panels.String()+caption(slices.Max(bottom[:])))
	return err
}

func caption(y int) string {
	return fmt.Sprintf(`<text class="about" x="%d" y="%d">%s</text>
`, gap, y+4, "Median time for each call; p99 in brackets; times iolane, paired. Blue: iolane. Pale: without a bound. Bars end at ten times our fastest.")
}

// bar is what is drawn of a peer.
type bar struct {
	Peer
	time, p99 float64
	ratio     string // to ours
}

func (f *File) bars(shape string) []bar {
	var bars []bar
	for _, p := range f.Peers {
		at := Point{shape, p.Name}
		t, ok := f.Median(at, Time)
		if !ok {
			continue
		}
		b := bar{Peer: p, time: t}
		b.p99, _ = f.Median(at, P99)
		if r := f.ratio(at, Point{shape, "iolane"}); r != "" && p.Name != "iolane" {
			b.ratio = r + "x"
		}
		bars = append(bars, b)
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.time, b.time) })
	return bars
}

// scale is the time at which bars end.
func scale(bars []bar) float64 {
	most := bars[len(bars)-1].time
	for _, b := range bars { // the fastest of ours that has a bound
		if b.Ours && b.Bounded {
			return max(min(most, reach*b.time), b.time)
		}
	}
	return most
}

func panel(w *strings.Builder, s Shape, bars []bar, x, y, height int) {
	fmt.Fprintf(w, `<g transform="translate(%d %d)">
<rect class="panel" width="%d" height="%d" rx="6"/>
<text class="title" x="10" y="18">%s</text>
<text class="about" x="10" y="34">%s</text>
`, x, y, panelWidth, height, text(s.Name), text(s.About))
	most := scale(bars)
	for i, b := range bars {
		top := headHeight + i*barStep
		length, cut := barWidth*b.time/most, b.time > most
		if cut {
			length = barWidth
		}
		class, weight := "peer", ""
		switch {
		case b.Ours:
			class, weight = "ours", " us"
		case !b.Bounded:
			class = "free"
		}
		fmt.Fprintf(w, `<text class="name%s" x="%d" y="%d">%s</text>
<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>
`, weight, labelWidth-6, top+10, text(b.Name), class, labelWidth, top, max(length, 1), barHeight)
		if cut {
			fmt.Fprintf(w, `<path class="cut" d="M%d %dl4 %d"/>
`, labelWidth+barWidth-16, top, barHeight)
		}
		fmt.Fprintf(w, `<text class="value%s" x="%.1f" y="%d">%s <tspan class="tail">(%s) %s</tspan></text>
`, weight, labelWidth+length+6, top+10, duration(b.time), duration(b.p99), b.ratio)
	}
	fmt.Fprintf(w, `<line class="axis" x1="%d" y1="%d" x2="%[1]d" y2="%d"/>
</g>
`, labelWidth, headHeight-4, height-6)
}

// text is s as it may stand in the drawing.
func text(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
