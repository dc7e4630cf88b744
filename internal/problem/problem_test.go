package problem

import "testing"

func TestProblems(t *testing.T) {
	var none List
	if none.Err() != nil {
		t.Error("no problems are an error")
	}
	ps := List{
		{File: "b", Line: 1, Column: 1, Text: "x"},
		{File: "a", Line: 2, Column: 1, Text: "y", Remedy: "z"},
		{File: "a", Line: 1, Column: 9, Text: "w"},
		{File: "b", Line: 1, Column: 1, Text: "x"},
		{File: "c", Line: 4, Text: "v"},
		{Text: "u"},
		{Path: "p[0]", Text: "t"},
	}
	want := "u\np[0]: t\na:1:9: w\na:2:1: y; z\nb:1:1: x\nc:4: v"
	if got := ps.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
