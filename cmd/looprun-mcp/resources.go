package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxResource is how much of a file is read, from its end, in bytes.
const maxResource = 256 << 10

// addResources adds the readable files of each run, and of the latest.
func (t *toolbox) addResources(s *mcp.Server) {
	for name, r := range files {
		s.AddResource(&mcp.Resource{URI: "looprun://latest/" + name, Name: "latest-" + name, Description: r.what + " The latest run.", MIMEType: r.mime}, t.read)
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "looprun://{run}/" + name, Name: name, Description: r.what, MIMEType: r.mime}, t.read)
	}
}

// files are the readable files of a run.
var files = map[string]struct{ mime, what string }{
	"scratchpad.md": {"text/markdown", "What a run did, decided and knows."},
	"result.json":   {"application/json", "How a run ended."},
	"last-output":   {"text/plain", "The end of what its last iteration printed."},
}

// resource matches the address of a readable file.
var resource = regexp.MustCompile(`^looprun://(latest|[0-9a-f-]{20})/(scratchpad\.md|result\.json|last-output)$`)

// readable rejects requests for addresses of any other form: the library copies them unescaped
// into its error, and then fails.
func readable(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.ReadResourceParams); ok && (p == nil || !resource.MatchString(p.URI)) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such resource; one is looprun://latest/scratchpad.md"}
		}
		return next(ctx, method, r)
	}
}

// read reads a resource. looprun determines the run's directory, and the file must be within
// it.
func (t *toolbox) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	of := resource.FindStringSubmatch(uri)
	s, err := t.show(ctx, of[1])
	if err != nil {
		return nil, err
	}
	names := []string{of[2]}
	if of[2] == "last-output" {
		names = []string{outputOf(s.Iterations + 1), outputOf(s.Iterations)} // the one that runs, or the last
	}
	for _, name := range names {
		text, err := readEnd(s.Dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: files[of[2]].mime, Text: clean(text)}}}, nil
	}
	return nil, mcp.ResourceNotFoundError(uri)
}

func outputOf(iteration int) string { return fmt.Sprintf("output/%04d.log", iteration) }

// readEnd reads the end of a file in a directory. It rejects a path that leads out of the
// directory, and a pipe, which has no positions.
func readEnd(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|notWaiting, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-maxResource)
	text, err := io.ReadAll(io.NewSectionReader(f, from, maxResource))
	if from > 0 {
		return "…" + strings.ToValidUTF8(string(text), "\uFFFD"), err
	}
	return string(text), err
}
