package carrier

import (
	"io"

	"github.com/looprun/looprun/internal/tail"
)

// SaidBytes is how much of the end of what agents say is evidence, in bytes.
const SaidBytes = 64 << 10

// Evidence passes on what of a recorded output counts for its signature: what is no
// carrier and what tools printed, or else what the agent said.
func Evidence(to io.Writer, output io.Reader) error {
	said, printed := tail.Buffer{Limit: SaidBytes}, false
	s := Stream{Part: func(p Part) {
		switch p.Role {
		case Said:
			said.Take(p.Text)
		case Printed, Plain:
			printed = printed || p.Role == Printed
			_, _ = to.Write(p.Text)
		case Noise:
		}
	}}
	_, err := io.Copy(&s, output)
	s.Flush()
	if !printed {
		_, _ = to.Write(said.Bytes())
	}
	return err
}
