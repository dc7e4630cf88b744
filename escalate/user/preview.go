package user

import (
	"strings"

	"github.com/looprun/looprun/core"
)

// Preview is what the prompt shows of the question once keys count, on a
// terminal of so many columns that is high enough for all of it, without
// colours. It ends with a newline. Columns below what text is wrapped at are
// taken as that. The error is that of a question that no menu can put, such as
// a select question without options ([core.ErrNoAnswer]).
//
// It opens no terminal and asks nobody.
func Preview(q core.Question, columns int) (string, error) {
	m, err := newMenu(q, nil)
	if err != nil {
		return "", err
	}
	p := &prompt{responder: &responder{}, menu: m, columns: columns}
	p.begin(&keyboard{})
	p.keys.armed = true
	p.rows = 1 << 20
	var below string
	if p.field != nil {
		below = strings.Join(append(p.message(), p.fieldLines()), "\n")
	} else if below, err = p.sheet().picture(); err != nil {
		return "", err
	}
	return p.opening(true) + below + "\n", nil
}
