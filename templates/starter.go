package templates

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed starter/*.yaml
var starterFiles embed.FS

// The names of the schemas that Init writes next to the files they describe.
const (
	templateSchemaFile = "template.schema.json"
	messagesSchemaFile = "messages.schema.json"
)

// Init writes a starter pack into the folder, which is created if needed: a template with
// comments, the other texts as comments, and the schemas for editors. It returns the paths
// written. No file is overwritten: if one of them already exists, nothing is written and the
// error wraps [fs.ErrExist].
func Init(dir string) ([]string, error) {
	template, err := starterFiles.ReadFile("starter/max_iterations.yaml")
	if err != nil {
		return nil, err
	}
	texts, err := starterMessages()
	if err != nil {
		return nil, err
	}
	files := []struct {
		name string
		data []byte
	}{
		{"max_iterations.yaml", template},
		{messagesFile, texts},
		{templateSchemaFile, templateSchema()},
		{messagesSchemaFile, messagesSchema()},
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w; nothing was written, name another folder", filepath.Join(dir, f.name), fs.ErrExist)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		if err := writeNew(name, f.data); err != nil {
			return written, err
		}
		written = append(written, name)
	}
	return written, nil
}

func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// starterMessages returns the built-in messages.yaml with all but one text commented out.
func starterMessages() ([]byte, error) {
	data, err := builtinFiles.ReadFile("builtin/" + messagesFile)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# yaml-language-server: $schema=./" + messagesSchemaFile + "\n\n")
	b.WriteString("# The texts that are no template's own. Take the # away before those you want\n# to change; the others stay as they are.\n\n")
	for line := range strings.Lines(string(data)) {
		if line != "\n" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "review_label:") {
			b.WriteString("# ")
		}
		b.WriteString(line)
	}
	return b.Bytes(), nil
}
