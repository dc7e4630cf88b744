package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/scratchpad"
)

// environ returns the environment of an iteration.
func (s *Session) environ(it core.Iteration) []string {
	if it.Judging {
		return s.helperEnviron(it, "check")
	}
	return append(s.commonEnviron(it), "LOOPRUN_SOCKET="+s.talk.path(), "LOOPRUN_ANSWERS="+s.answersFile(it), "LOOPRUN_CONTEXT="+s.run.ContextFile())
}

// helperEnviron returns the environment of a check, verify, debug or expert command. It has no
// socket: these commands may not ask questions, and neither may a nested looprun.
func (s *Session) helperEnviron(it core.Iteration, role string) []string {
	return append(s.commonEnviron(it), "LOOPRUN_ROLE="+role)
}

func (s *Session) commonEnviron(it core.Iteration) []string {
	own := it.Environ()
	env := make([]string, 0, len(s.base)+len(own)+10)
	env = append(append(env, s.base...), own...)
	if slot := os.Getenv("LOOPRUN_SLOT"); slot != "" { // one of many
		env = append(env, "LOOPRUN_SLOT="+slot)
	}
	return append(env,
		"LOOPRUN_RUN_ID="+s.run.ID,
		"LOOPRUN_DIR="+s.run.Dir,
		"LOOPRUN_SCRATCHPAD="+s.run.PageFile(),
		"LOOPRUN_GUIDANCE_FILE="+s.guidanceFile(it),
		"LOOPRUN_LAST_OUTPUT="+s.lastOutput(it),
		"LOOPRUN_FAILING="+s.failingFile(it),
	)
}

// guidanceFile returns the file with the whole guidance, however long.
func (s *Session) guidanceFile(it core.Iteration) string {
	if it.Guidance == "" {
		return os.DevNull
	}
	return s.written("guidance.txt", "the guidance", it.Guidance)
}

// failingFile returns the file with the names of the failing checks, one a line. It is empty
// unless all of them are known: a command that runs only those must not miss one.
func (s *Session) failingFile(it core.Iteration) string {
	if it.Last == nil || len(it.Last.Signature.Checks) == 0 || len(it.Last.Signature.Checks) != it.Last.Signature.Failing {
		return os.DevNull
	}
	return s.written("failing.txt", "the names of the checks that fail", strings.Join(it.Last.Signature.Checks, "\n")+"\n")
}

// written writes text to a file of that name in the run's directory and returns its path.
func (s *Session) written(name, what, text string) string {
	name = filepath.Join(s.run.Dir, name)
	if err := atomicfile.Write(name, []byte(text), false); err != nil {
		s.app.Say.Warn("%s could not be written: %v", what, err)
		return os.DevNull
	}
	return name
}

// lastOutput returns the file with the judge's last output, or the empty string if it printed
// nothing.
func (s *Session) lastOutput(it core.Iteration) string {
	if it.Last == nil || it.Last.OutputBytes == 0 {
		return os.DevNull
	}
	if name := Judged(s.run.Dir, s.outputNumber(it.Last.Iteration), it.Last); inputfile.IsFile(name) {
		return name
	}
	return os.DevNull
}

// feed sets up the command's input. Standard input is read once, to its end, and each
// iteration reads it from the beginning.
func (s *Session) feed() error {
	switch name := s.opts.Stdin; name {
	case "none":
		return nil
	case "-":
		file := filepath.Join(s.run.Dir, "stdin")
		if err := s.copyStdin(file); err != nil {
			return fmt.Errorf("standard input cannot be read: %w", err)
		}
		s.executor.Stdin = func() (*os.File, error) { return inputfile.OpenPlain(file) }
	case config.StdinContext:
		s.executor.Stdin = func() (*os.File, error) { return inputfile.OpenPlain(s.run.ContextFile()) }
	default:
		s.executor.Stdin = func() (*os.File, error) {
			if inputfile.Piped(name) { // at the start it was none
				return nil, fmt.Errorf("%s has become a pipe", name)
			}
			return os.Open(name)
		}
	}
	return nil
}

func (s *Session) copyStdin(file string) error {
	if inputfile.IsFile(file) { // resumed: it was read when the run started
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, atomicfile.Mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, s.input)
	return errors.Join(err, f.Close())
}

// Judged returns the file with the output of an iteration's judge; number is the iteration's
// file number. The file does not exist if the judge printed nothing.
func Judged(dir string, number int, d *core.IterationFinished) string {
	if d.Iteration == 0 || d.WorkExitCode != nil {
		return scratchpad.CheckOutputFile(dir, number)
	}
	return scratchpad.OutputFile(dir, number)
}
