package margin

import (
	"bytes"
	"strings"
	"testing"
)

// Lines that a width has cut are whole again, and others stay as they are.
func TestUnwrap(t *testing.T) {
	at80 := func(text string) string { return text + strings.Repeat("x", 80-len(text)) }
	tests := []struct{ name, text, want string }{
		{"within words", "src/a.ts(6,52): error TS2322: " + strings.Repeat("x", 45) + " prop\nerties\n" + strings.Repeat("y", 76) + " exp\nires\nshort\n", "src/a.ts(6,52): error TS2322: " + strings.Repeat("x", 45) + " properties\n" + strings.Repeat("y", 76) + " expires\nshort\n"},
		{"behind a space", strings.Repeat("x", 59) + " \ngoes on\nshort\n", strings.Repeat("x", 59) + " goes on\nshort\n"},
		{"shorter lines of long characters", strings.Repeat("x", 59) + " \ngoes on\n" + strings.Repeat(strings.Repeat("é", 28)+"\n", 3), strings.Repeat("x", 59) + " goes on\n" + strings.Repeat(strings.Repeat("é", 28)+"\n", 3)},
		{"one line that is as long by chance", at80("a") + "\nnext\n", at80("a") + "\nnext\n"},
		{"lines that end with words", at80("a") + "\nnext\n" + at80("b")[:77] + "\nnext\n" + at80("c")[:75] + "\n" + at80("d") + "\nnext\n" + at80("e")[:74] + "\n" + at80("f")[:76] + "\n", at80("a") + "\nnext\n" + at80("b")[:77] + "\nnext\n" + at80("c")[:75] + "\n" + at80("d") + "\nnext\n" + at80("e")[:74] + "\n" + at80("f")[:76] + "\n"},
		{"rules", strings.Repeat("=", 80) + "\nnext\n" + strings.Repeat("=", 80) + "\nnext\n", strings.Repeat("=", 80) + "\nnext\n" + strings.Repeat("=", 80) + "\nnext\n"},
		{"findings", at80("a") + "\nb.c:7:2: error\n" + at80("b") + "\nb.c:8:2: error\n", at80("a") + "\nb.c:7:2: error\n" + at80("b") + "\nb.c:8:2: error\n"},
	}
	for _, tt := range tests {
		got := bytes.Join(unwrap(bytes.Split([]byte(strings.TrimSuffix(tt.text, "\n")), []byte("\n"))), []byte("\n"))
		if string(got)+"\n" != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
