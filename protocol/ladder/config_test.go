package ladder

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

var (
	crypto   = Expert{"crypto", "./ask-crypto.sh"}
	protocol = Expert{"protocol", "./ask-protocol.sh"}
	storage  = Expert{"storage", "./ask-storage.sh"}
	network  = Expert{"network", "./ask-network.sh"}
)

func withExperts(self, attempts int, experts ...Expert) Config {
	return Config{{Rung: SelfSolve, Attempts: self}, {Rung: Experts, Attempts: attempts, Experts: experts}, {Rung: Human}}
}

func alone(self int) Config { return Config{{Rung: SelfSolve, Attempts: self}, {Rung: Human}} }

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		config Config
		path   []any  // nil with text "": nothing is wrong
		text   string // of the only problem
		remedy string
	}{
		"no ladder":         {config: nil},
		"an empty ladder":   {config: Config{}},
		"the documented":    {config: withExperts(3, 3, crypto, protocol)},
		"nothing stated":    {config: withExperts(0, 0, crypto)},
		"without experts":   {config: alone(0)},
		"one attempt":       {config: withExperts(1, 1, crypto)},
		"six in all":        {config: withExperts(5, 1, crypto)},
		"six alone":         {config: alone(6)},
		"seven in all":      {withExperts(4, 3, crypto), []any{0, "attempts"}, "7 attempts in all", "lower them to 6"},
		"no room for any":   {withExperts(6, 0, crypto), []any{0, "attempts"}, "7 attempts in all", "lower them"},
		"what is left":      {config: withExperts(5, 0, crypto)},
		"seven alone":       {alone(7), []any{0, "attempts"}, "self_solve has 7 attempts", "at most 6"},
		"four of experts":   {withExperts(2, 4, crypto), []any{1, "attempts"}, "experts have 4 attempts", "at most 3"},
		"less than none":    {alone(-1), []any{0, "attempts"}, "-1 attempts cannot be made", "1 or more"},
		"a tireless person": {Config{{Rung: SelfSolve}, {Rung: Human, Attempts: 2}}, []any{1, "attempts"}, "human has no attempts", "remove"},
		"no experts":        {withExperts(3, 3), []any{1}, "has no experts", "remove the rung"},
		"misplaced experts": {Config{{Rung: SelfSolve, Experts: []Expert{crypto}}, {Rung: Human}}, []any{0, "experts"}, "self_solve cannot have experts", "rung: experts"},
		"experts first":     {Config{{Rung: Experts, Experts: []Expert{crypto}}, {Rung: Human}}, []any{0, "rung"}, "the first rung is experts", "self_solve"},
		"no person":         {Config{{Rung: SelfSolve}}, nil, "does not end with a person", "human"},
		"a person between":  {Config{{Rung: SelfSolve}, {Rung: Human}, {Rung: Experts, Experts: []Expert{crypto}}}, []any{1, "rung"}, "human is not the last", "the end"},
		"a rung twice":      {Config{{Rung: SelfSolve}, {Rung: SelfSolve}, {Rung: Human}}, []any{1, "rung"}, "self_solve is there twice", "into one"},
		"an unknown rung":   {Config{{Rung: SelfSolve}, {Rung: "expert"}, {Rung: Human}}, []any{1, "rung"}, `unknown rung "expert"`, `did you mean "experts"`},
		"unknown and first": {Config{{Rung: "self-solve"}, {Rung: Human}}, []any{0, "rung"}, `unknown rung "self-solve"`, `did you mean "self_solve"`},
		"a rung unnamed":    {Config{{Rung: SelfSolve}, {}, {Rung: Human}}, []any{1, "rung"}, `unknown rung ""`, "self_solve, experts, human"},
		"no name":           {withExperts(3, 3, Expert{"", "x"}), []any{1, "experts", ""}, "not a name for an expert", "1 to 40"},
		"a long name":       {withExperts(3, 3, Expert{strings.Repeat("a", 41), "x"}), []any{1, "experts", strings.Repeat("a", 41)}, "not a name for an expert", "1 to 40"},
		"a longest name":    {config: withExperts(3, 3, Expert{strings.Repeat("a", 40), "x"})},
		"a hostile name":    {withExperts(3, 3, Expert{"a\x1b[2J", "x"}), []any{1, "experts", "a\x1b[2J"}, `"a\x1b[2J" is not a name`, "letters"},
		"a name twice":      {withExperts(3, 3, crypto, crypto), []any{1, "experts", "crypto"}, `"crypto" is there twice`, "own name"},
		"no command":        {withExperts(3, 3, Expert{"crypto", " \t"}), []any{1, "experts", "crypto"}, `"crypto" has no command`, "shell line"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.config.Validate()
			if tt.text == "" {
				if len(got) > 0 {
					t.Fatalf("problems where there are none: %v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("%d problems instead of one: %v", len(got), got)
			}
			p := got[0]
			if !reflect.DeepEqual(p.Path, tt.path) || !strings.Contains(p.Text, tt.text) || !strings.Contains(p.Remedy, tt.remedy) {
				t.Errorf("got %+v, want one at %v with %q and %q", p, tt.path, tt.text, tt.remedy)
			}
		})
	}
}

func TestValidateReportsAll(t *testing.T) {
	c := Config{{Rung: "self"}, {Rung: Experts, Attempts: -2}, {Rung: Experts}}
	var paths []any
	for _, p := range c.Validate() {
		paths = append(paths, p.Path)
	}
	want := []any{[]any{0, "rung"}, []any{1, "attempts"}, []any{1}, []any{2, "rung"}, []any(nil)}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("problems at %v, want %v", paths, want)
	}
}

func TestAttemptsOfRungs(t *testing.T) {
	for name, tt := range map[string]struct {
		config        Config
		self, experts int
	}{
		"no ladder":          {nil, 0, 0},
		"stated":             {withExperts(2, 1, crypto), 2, 1},
		"nothing stated":     {withExperts(0, 0, crypto), 3, 3},
		"experts are left 2": {withExperts(4, 0, crypto), 4, 2},
		"experts are left 3": {withExperts(1, 0, crypto), 1, 3},
		"alone":              {alone(0), 6, 0},
		"alone and stated":   {alone(2), 2, 0},
	} {
		if self, experts := tt.config.attempts(SelfSolve), tt.config.attempts(Experts); self != tt.self || experts != tt.experts {
			t.Errorf("%s: %d and %d attempts, want %d and %d", name, self, experts, tt.self, tt.experts)
		}
		if n := tt.config.attempts(Human); n != 0 {
			t.Errorf("%s: a person has %d attempts", name, n)
		}
	}
}

// The configuration is in the journal: experts keep their order there.
func TestConfigJSON(t *testing.T) {
	c := withExperts(3, 0, protocol, crypto, network)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%s reads back as %+v (%v)", data, back, err)
	}
}

// The names of experts reach prompts, pages and the environment: nothing but the
// named characters, with what stands beside them in ASCII.
func TestTheCharactersOfANameOfAnExpert(t *testing.T) {
	for _, r := range "azAZ09-_." {
		if !isName(string(r)) {
			t.Errorf("%q is none", r)
		}
	}
	for _, r := range "`{@[/:,^ \t\n\x00\x7fé٣" {
		if isName(string(r)) || isName("a"+string(r)) {
			t.Errorf("%q is one", r)
		}
	}
}
