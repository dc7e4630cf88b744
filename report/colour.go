package report

import (
	"fmt"
	"math"
	"strings"
)

// rgb is an sRGB colour.
type rgb [3]uint8

func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// colour is one that a program asked for. Its zero value is the default.
type colour struct {
	set   bool
	base  bool // one of the 16 that the page chooses
	index uint8
	rgb   rgb
}

func exact(c rgb) colour { return colour{set: true, rgb: c} }

// indexed is a colour of the 256: the 16 base colours, a cube of 6×6×6, and 24
// greys.
func indexed(n int) colour {
	switch {
	case n < 16:
		return colour{set: true, base: true, index: uint8(n)}
	case n < 232:
		step := func(v int) uint8 {
			if v == 0 {
				return 0
			}
			return uint8(55 + 40*v)
		}
		n -= 16
		return exact(rgb{step(n / 36), step(n / 6 % 6), step(n % 6)})
	}
	grey := uint8(8 + 10*(n-232))
	return exact(rgb{grey, grey, grey})
}

// The panel of an output is dark in both themes: programs choose their colours
// for a dark terminal.
var (
	panelBack = rgb{0x12, 0x17, 0x1e}
	panelText = rgb{0xd9, 0xdf, 0xe6}
	white     = rgb{0xff, 0xff, 0xff}
	black     = rgb{0x00, 0x00, 0x00}
)

// baseText and baseBack are the 16 colours of text and of what is behind it.
var (
	baseText = [16]rgb{
		{0x8b, 0x95, 0xa3},
		{0xff, 0x8b, 0x87},
		{0x7f, 0xd1, 0x8a},
		{0xe8, 0xc0, 0x6a},
		{0x84, 0xb6, 0xff},
		{0xd9, 0xa0, 0xf2},
		{0x6f, 0xd0, 0xd6},
		{0xd9, 0xdf, 0xe6},
		{0xa3, 0xad, 0xba},
		{0xff, 0xa8, 0xa4},
		{0x9b, 0xe3, 0xa5},
		{0xf5, 0xd4, 0x8a},
		{0xa6, 0xca, 0xff},
		{0xe6, 0xbb, 0xf8},
		{0x94, 0xe3, 0xe8},
		{0xff, 0xff, 0xff},
	}
	baseBack = [16]rgb{
		{0x00, 0x00, 0x00},
		{0xa1, 0x2b, 0x2b},
		{0x24, 0x6b, 0x34},
		{0x8a, 0x62, 0x0c},
		{0x23, 0x50, 0x9b},
		{0x7a, 0x35, 0x9a},
		{0x14, 0x68, 0x70},
		{0xc4, 0xcb, 0xd3},
		{0x4a, 0x53, 0x60},
		{0xc9, 0x4a, 0x48},
		{0x3b, 0x8f, 0x4c},
		{0xc4, 0x94, 0x2a},
		{0x44, 0x76, 0xcc},
		{0x9c, 0x56, 0xbd},
		{0x2b, 0x8c, 0x95},
		{0xff, 0xff, 0xff},
	}
)

// maxColours is how many colours beside the base ones a page has before it
// rounds the rest to a cube of 6×6×6.
const maxColours = 256

// palette gives styles their classes and collects the colours that the page's
// style sheet has to define. Text that cannot be read is given another colour:
// nothing in an output is hidden.
type palette struct {
	known   map[style]string
	colours []rgb // of text and what is behind it: class t3 or k3 is colours[3]
	places  map[rgb]int
}

// class are the classes of a style; "" for plain text.
func (p *palette) class(s style) string {
	name, known := p.known[s]
	if !known {
		name = p.classes(s)
		if p.known == nil || len(p.known) == maxStyles {
			p.known = map[style]string{}
		}
		p.known[s] = name
	}
	return name
}

// maxStyles is how many styles are remembered.
const maxStyles = 4096

// classes makes them out.
func (p *palette) classes(s style) string {
	var names []string
	for _, n := range []struct {
		on   bool
		name string
	}{{s.bold, "b"}, {s.dim, "d"}, {s.italic, "i"}, {s.underline, "u"}} {
		if n.on {
			names = append(names, n.name)
		}
	}
	fg, bg := s.fg, s.bg
	if s.inverse {
		fg, bg = swapped(s)
	}
	fore, back := panelText, panelBack
	if fg.set {
		fore = fg.rgb
		if fg.base {
			fore = baseText[fg.index]
		}
	}
	if bg.set {
		back = bg.rgb
		if bg.base {
			back = baseBack[bg.index]
		}
		names = append(names, "k"+p.place(back))
	}
	if readable := readable(fore, back); readable != panelText {
		names = append(names, "t"+p.place(readable))
	}
	return strings.Join(names, " ")
}

// swapped are the colours of inverse text.
func swapped(s style) (fg, bg colour) {
	fg, bg = exact(panelBack), exact(panelText)
	if s.bg.set {
		fg = s.bg
		if fg.base {
			fg = exact(baseBack[fg.index])
		}
	}
	if s.fg.set {
		bg = s.fg
		if bg.base {
			bg = exact(baseText[bg.index])
		}
	}
	return fg, bg
}

// place is the number of the colour in the page's style sheet.
func (p *palette) place(c rgb) string {
	if p.places == nil {
		p.places = map[rgb]int{}
	}
	at, ok := p.places[c]
	if !ok && len(p.colours) >= maxColours {
		for i := range c {
			c[i] = uint8((int(c[i]) + 25) / 51 * 51)
		}
		at, ok = p.places[c]
	}
	if !ok {
		at = len(p.colours)
		p.places[c] = at
		p.colours = append(p.colours, c)
	}
	return fmt.Sprint(at)
}

// css defines the classes that were given out.
func (p *palette) css() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".out{background:%s;color:%s}", panelBack, panelText)
	for i, c := range p.colours {
		fmt.Fprintf(&b, ".t%d{color:%s}.k%d{background:%s}", i, c, i, c)
	}
	return b.String()
}

// leastContrast is what WCAG 2 asks for text (AA).
const leastContrast = 4.5

// readable is the colour, made lighter or darker until it can be read.
func readable(text, back rgb) rgb {
	if contrast(text, back) >= leastContrast {
		return text
	}
	goal := white
	if contrast(black, back) > contrast(white, back) {
		goal = black
	}
	for part := 1; part < 8; part++ {
		var c rgb
		for i := range c {
			c[i] = uint8((int(text[i])*(8-part) + int(goal[i])*part) / 8)
		}
		if contrast(c, back) >= leastContrast {
			return c
		}
	}
	return goal
}

// contrast is the ratio of WCAG 2, 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c rgb) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}
