package user

import (
	"strings"

	"github.com/looprun/looprun/core"
)

// Preview returns what the prompt shows of the question once keys count, on a terminal with
// that many columns and enough rows, without colours. It ends with a newline. Fewer columns
// than the minimum for wrapping count as that minimum. It returns an error for a question that
// no menu can present, such as a select question without options ([core.ErrNoAnswer]).
//
// Without texts it has the built-in ones. It opens no terminal and asks nobody.
func Preview(q core.Question, columns int, texts core.Texts) (string, error) {
	o := Options{Texts: texts}
	m, err := o.menu(q, nil)
	if err != nil {
		return "", err
	}
	p := &prompt{responder: &responder{o}, menu: m, columns: columns}
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
