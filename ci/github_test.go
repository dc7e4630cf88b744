package ci

import (
	"fmt"
	"regexp"
	"strings"
)

// githubRunner does with a log what GitHub's runner does, as far as its
// documentation says: it takes workflow commands, the old form ##[…] too, and
// shows all other lines, in which the log viewer acts on ##[group] and the like.
type githubRunner struct {
	stop     string            // the word that ends stop-commands
	commands []workflowCommand // those that were carried out
	shown    []string
	groups   []string // as the viewer shows them
	depth    int
	deepest  int
}

type workflowCommand struct {
	name  string
	props map[string]string
	data  string
}

var githubCommands = []string{
	"stop-commands", "set-output", "set-env", "add-path", "add-mask", "add-matcher", "remove-matcher", "save-state",
	"error", "warning", "notice", "debug", "group", "endgroup", "echo", "internal-set-repo-path",
}

// read takes a whole log. Lines end with LF, CR or both.
func (r *githubRunner) read(log string) {
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(log, -1) {
		c, ok := r.parse(line)
		switch {
		case !ok || r.stop != "" && !strings.EqualFold(c.name, r.stop):
			r.show(line)
		case r.stop != "":
			r.stop = ""
		case strings.EqualFold(c.name, "stop-commands"):
			r.stop = c.data
		case strings.EqualFold(c.name, "group"):
			r.commands = append(r.commands, c)
			r.show("##[group]" + c.data)
		case strings.EqualFold(c.name, "endgroup"):
			r.commands = append(r.commands, c)
			r.show("##[endgroup]")
		default:
			r.commands = append(r.commands, c)
		}
	}
}

// show is what the log viewer makes of a line.
func (r *githubRunner) show(line string) {
	r.shown = append(r.shown, line)
	_, after, ok := strings.Cut(line, "##[")
	if !ok {
		return
	}
	word, title, _ := strings.Cut(after, "]")
	switch strings.ToLower(word) {
	case "group":
		r.groups = append(r.groups, title)
		r.depth++
		r.deepest = max(r.deepest, r.depth)
	case "endgroup":
		r.depth--
	default:
		r.groups = append(r.groups, "##["+word) // an error or a warning in colour: looprun prints none so
	}
}

func (r *githubRunner) parse(line string) (workflowCommand, bool) {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "::"); ok {
		info, data, ok := strings.Cut(rest, "::")
		if c, known := r.command(info, data, ","); ok && known {
			unescape := strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",")
			for k, v := range c.props {
				c.props[k] = unescape.Replace(v)
			}
			c.data = strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n").Replace(c.data)
			return c, true
		}
	}
	if _, rest, ok := strings.Cut(line, "##["); ok {
		info, data, ok := strings.Cut(rest, "]")
		if c, known := r.command(info, data, ";"); ok && known {
			return c, true
		}
	}
	return workflowCommand{}, false
}

func (r *githubRunner) command(info, data, separator string) (workflowCommand, bool) {
	name, list, _ := strings.Cut(info, " ")
	known := r.stop != "" && strings.EqualFold(name, r.stop)
	for _, c := range githubCommands {
		known = known || strings.EqualFold(c, name)
	}
	c := workflowCommand{name: name, props: map[string]string{}, data: data}
	for prop := range strings.SplitSeq(list, separator) {
		if k, v, ok := strings.Cut(strings.TrimSpace(prop), "="); ok {
			c.props[k] = v
		}
	}
	return c, known
}

// names are the commands that were carried out.
func (r *githubRunner) names() []string {
	var names []string
	for _, c := range r.commands {
		names = append(names, c.name)
	}
	return names
}

// parseOutputs reads a file of outputs: lines NAME=VALUE, or NAME<<DELIMITER,
// the value's lines, and the delimiter alone on a line. Later ones win.
func parseOutputs(text string) (map[string]string, error) {
	outputs := map[string]string{}
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		equals, here := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (here < 0 || equals < here):
			outputs[line[:equals]] = line[equals+1:]
		case here > 0 && here+2 < len(line):
			name, delimiter := line[:here], line[here+2:]
			var value []string
			for i++; ; i++ {
				if i == len(lines) {
					return nil, fmt.Errorf("the delimiter %q of %s does not come", delimiter, name)
				}
				if lines[i] == delimiter {
					break
				}
				value = append(value, lines[i])
			}
			outputs[name] = strings.Join(value, "\n")
		default:
			return nil, fmt.Errorf("line %d, %q, sets nothing", i+1, line)
		}
	}
	return outputs, nil
}
