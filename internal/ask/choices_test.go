package ask

import (
	"encoding/json"
	"strings"
	"testing"
)

const oneChoice = `{"question":"Sure?","kind":"confirm"}`

func TestParseChoices(t *testing.T) {
	five := strings.TrimSuffix(strings.Repeat(oneChoice+",", 5), ",")
	c, err := ParseChoices([]byte(`{"status":"paused_awaiting_choices","partial_result":{"b":1,"a":[1e400,"<x>"]},"pending_user_choices":[` + five + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.PendingUserChoices) != 5 || c.PendingUserChoices[4].ID != "q5" || c.Schema != ChoicesSchema || c.Status != StatusChoices {
		t.Errorf("%+v", c)
	}
	var partial any
	d := json.NewDecoder(strings.NewReader(string(c.PartialResult)))
	d.UseNumber()
	if err := d.Decode(&partial); err != nil || !strings.Contains(string(c.PartialResult), "1e400") {
		t.Errorf("%s, %v", c.PartialResult, err)
	}
	for name, c := range map[string]struct{ text, path, words string }{
		"empty":        {`{"status":"paused_awaiting_choices","pending_user_choices":[]}`, "pending_user_choices", "name at least one question"},
		"missing":      {`{"status":"paused_awaiting_choices"}`, "pending_user_choices", "missing"},
		"null":         {`{"status":"paused_awaiting_choices","pending_user_choices":null}`, "pending_user_choices", "a list"},
		"other status": {`{"status":"done","pending_user_choices":[` + oneChoice + `]}`, "status", StatusChoices},
		"no status":    {`{"pending_user_choices":[` + oneChoice + `]}`, "status", "missing"},
		"unknown key":  {`{"status":"paused_awaiting_choices","pending_choices":1,"pending_user_choices":[` + oneChoice + `]}`, "pending_choices", "not known"},
		"bad question": {`{"status":"paused_awaiting_choices","pending_user_choices":[{"question":"x","kind":"select"}]}`, "pending_user_choices[0].options", "0 options"},
	} {
		_, err := ParseChoices([]byte(c.text))
		t.Run(name, func(t *testing.T) { wrong(t, err, c.path, c.words) })
	}
	if c, err := ParseChoices([]byte(`{"status":"paused_awaiting_choices","partial_result":null,"pending_user_choices":[` + oneChoice + `]}`)); err != nil || c.PartialResult != nil {
		t.Errorf("%+v, %v", c, err)
	}
}
