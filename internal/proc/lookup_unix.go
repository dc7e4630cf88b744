//go:build unix

package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of a command that never ran, as shells use them.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// defaultPath is where a command is looked up if Env has no PATH, as in the C library.
const defaultPath = "/bin:/usr/bin"

// lookPath finds the file to execute. A relative path, and a relative entry of
// PATH, means one in dir.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path, set := lookEnv(env, "PATH")
	if !set {
		path = defaultPath
	}
	refused := ""
	for _, d := range filepath.SplitList(path) {
		file := cmp.Or(d, ".") + "/" + name
		switch err := executable(inDir(dir, file)); {
		case err == nil:
			return file, nil
		case errors.Is(err, fs.ErrPermission) && refused == "":
			refused = file
		}
	}
	if refused != "" {
		return "", &startError{codeNotExecutable, fmt.Errorf("%s is not executable", refused)}
	}
	remedy := ""
	if executable(inDir(dir, name)) == nil { // the directory is not on PATH
		remedy = "; write ./" + name
	}
	return "", &startError{codeNotFound, fmt.Errorf("%s: command not found on PATH%s", name, remedy)}
}

func lookEnv(env []string, key string) (value string, set bool) {
	for _, kv := range env {
		if k, v, _ := strings.Cut(kv, "="); k == key {
			return v, true
		}
	}
	return "", false
}

func inDir(dir, file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return cmp.Or(dir, ".") + "/" + file
}

func executable(file string) error {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fs.ErrPermission
	}
	return unix.Access(file, unix.X_OK)
}

// startError is why a command could not be started, with the exit code that reports it to
// programs.
type startError struct {
	code int
	err  error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// explain explains why executing file in dir failed with errno: ENOENT alone may refer to the
// file, its interpreter or the directory.
func explain(file, dir string, errno syscall.Errno) *startError {
	if dir != "" {
		if st, err := os.Stat(dir); err != nil {
			return &startError{codeNotExecutable, fmt.Errorf("working directory: %w", err)}
		} else if !st.IsDir() {
			return &startError{codeNotExecutable, fmt.Errorf("working directory: %s is not a directory", dir)}
		}
	}
	switch errno {
	case unix.EMFILE, unix.ENFILE:
		return &startError{codeLacking, fmt.Errorf("%s cannot be started: %w; raise the limit (ulimit -n)", file, errno)}
	case unix.EAGAIN:
		return &startError{codeLacking, fmt.Errorf("%s cannot be started: %w: there are too many processes (ulimit -u)", file, errno)}
	case unix.ENOMEM:
		return &startError{codeLacking, fmt.Errorf("%s cannot be started: %w", file, errno)}
	}
	full := inDir(dir, file)
	st, err := os.Stat(full)
	switch {
	case (errno == unix.ENOENT || errno == unix.ENOTDIR) && err != nil:
		return &startError{codeNotFound, fmt.Errorf("%s: no such file", file)}
	case errno == unix.ENOENT:
		return &startError{codeNotFound, fmt.Errorf("%s: its interpreter or loader does not exist%s", file, interpreter(full))}
	case err == nil && st.IsDir():
		return &startError{codeNotExecutable, fmt.Errorf("%s is a directory", file)}
	case errno == unix.EACCES && err == nil && st.Mode()&0o111 == 0:
		return &startError{codeNotExecutable, fmt.Errorf("%s is not executable: %w; chmod +x makes it so", file, errno)}
	case errno == unix.EACCES:
		return &startError{codeNotExecutable, fmt.Errorf("%s is not executable: %w", file, errno)}
	case errno == unix.ENOEXEC:
		return &startError{codeNotExecutable, fmt.Errorf("%s: %w: neither a program nor a script with #! in its first line", file, errno)}
	}
	return &startError{codeNotExecutable, fmt.Errorf("%s: %w", file, errno)}
}

// interpreter returns " (PATH)" if file is a script that names one.
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	if !strings.HasPrefix(line, "#!") {
		return ""
	}
	return fmt.Sprintf(" (%q)", strings.TrimSpace(line[2:]))
}
