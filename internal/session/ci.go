package session

import (
	"cmp"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/signature"
)

// ciFacts returns what the environment and git show about where the run takes place. Files are
// counted only where somebody asks for them: that takes time in a large work tree.
func ciFacts(dir string, began time.Time, counted bool) core.CI {
	c := ciJob(dir)
	if !counted {
		return c
	}
	ctx, cancel := context.WithTimeout(context.Background(), ciPatience)
	defer cancel()
	base, unsure, err := git.LastBefore(ctx, dir, began)
	if err != nil || unsure || base == "" {
		return c
	}
	if n, err := git.ChangedFiles(ctx, dir, base, ""); err == nil {
		c.ChangedFiles = &n
	}
	return c
}

// ciJob returns what the environment shows about the CI job, and the branch.
func ciJob(dir string) core.CI {
	get := os.Getenv
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // not known: 0
		return n
	}
	switch {
	case get("GITHUB_ACTIONS") != "":
		pr, _, _ := strings.Cut(strings.TrimPrefix(get("GITHUB_REF"), "refs/pull/"), "/")
		c := core.CI{
			In: true, Name: "github", Event: get("GITHUB_EVENT_NAME"), Attempt: number(get("GITHUB_RUN_ATTEMPT")),
			Branch: cmp.Or(get("GITHUB_HEAD_REF"), get("GITHUB_REF_NAME")), BaseBranch: get("GITHUB_BASE_REF"), PullRequest: number(pr),
		}
		if get("GITHUB_REF_TYPE") == "tag" {
			c.Branch, c.Tag = "", get("GITHUB_REF_NAME")
		}
		return c
	case get("GITLAB_CI") != "":
		return core.CI{
			In: true, Name: "gitlab", Event: get("CI_PIPELINE_SOURCE"),
			Branch: cmp.Or(get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), get("CI_COMMIT_BRANCH")), BaseBranch: get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
			Tag: get("CI_COMMIT_TAG"), PullRequest: number(get("CI_MERGE_REQUEST_IID")),
		}
	case get("BUILDKITE") != "":
		return core.CI{
			In: true, Name: "buildkite", Event: get("BUILDKITE_SOURCE"), Attempt: number(get("BUILDKITE_RETRY_COUNT")) + 1,
			Branch: get("BUILDKITE_BRANCH"), BaseBranch: get("BUILDKITE_PULL_REQUEST_BASE_BRANCH"), Tag: get("BUILDKITE_TAG"), PullRequest: number(get("BUILDKITE_PULL_REQUEST")),
		}
	}
	if get("TF_BUILD") != "" {
		c := core.CI{
			In: true, Name: "azure", Event: get("BUILD_REASON"), Attempt: number(get("SYSTEM_JOBATTEMPT")),
			Branch:     cmp.Or(get("SYSTEM_PULLREQUEST_SOURCEBRANCH"), get("BUILD_SOURCEBRANCHNAME")),
			BaseBranch: get("SYSTEM_PULLREQUEST_TARGETBRANCH"), PullRequest: number(get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")),
		}
		if tag, ok := strings.CutPrefix(get("BUILD_SOURCEBRANCH"), "refs/tags/"); ok {
			c.Branch, c.Tag = "", tag
		}
		return c
	}
	branch, _ := git.Run(context.Background(), dir, nil, "symbolic-ref", "--short", "-q", "HEAD") // empty: there is none
	return core.CI{In: console.InCI(), Branch: branch}
}

// speakToCI sets up the CI job's log, in which the command's output is data.
func (s *Session) speakToCI() {
	s.ci = ci.New(ci.Options{
		Provider: ci.Provider(s.opts.CI), Log: s.outlets.messages(s.app, ci.LogOf(s.app.Stdout, s.app.Stderr)),
		AllowCommands: s.opts.CICommands == "allow",
	})
	s.app.Say.W = s.ci.Messages(s.app.Say.W)
	by := s.ci.Provider()
	s.app.Say.Sections = by != ci.Off && by != ci.Generic
}

// failing returns the failing checks of the last iteration, with file paths relative to the
// repository: a CI system shows an annotation next to the line that it names. A path that is
// ambiguous or matches no file is left out.
func failing(ctx context.Context, s *core.State) []core.FailingCheck {
	if s.Last == nil || s.Last.Outcome == core.OutcomeDone {
		return nil
	}
	list := s.Last.Failing(signature.MaxChecks)
	if !slices.ContainsFunc(list, func(f core.FailingCheck) bool { return f.File != "" }) {
		return list
	}
	top, err := git.Run(ctx, s.Dir, nil, "rev-parse", "--show-toplevel")
	files := ""
	if err == nil {
		files, err = git.Run(ctx, top, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	}
	here, _ := filepath.Rel(top, s.Dir) // both are absolute
	all := strings.Split(files, "\x00")
	for i := range list {
		if f := &list[i]; f.File != "" {
			if f.File = inRepository(all, top, here, filepath.ToSlash(f.File)); err != nil || f.File == "" {
				f.File, f.Line = "", 0
			}
		}
	}
	return list
}

// inRepository returns the repository file that a tool named: the path relative to the folder
// it ran in, or else the only file whose path ends with the name.
func inRepository(all []string, top, here, name string) string {
	if filepath.IsAbs(name) {
		name, _ = filepath.Rel(top, name) // else it is none of them
	} else if file := path.Join(filepath.ToSlash(here), name); slices.Contains(all, file) {
		return file
	}
	found := ""
	for _, file := range all {
		if name = path.Clean(name); file == name || strings.HasSuffix(file, "/"+name) {
			if found != "" && found != file {
				return ""
			}
			found = file
		}
	}
	return found
}

// TellCIOfProblem reports to the CI system that looprun ended before there was a run. by is
// the value of --ci as far as it is known; ran reports whether looprun was called to run
// something.
func TellCIOfProblem(stderr io.Writer, by string, ran bool, problem error) {
	ctx, cancel := context.WithTimeout(context.Background(), ciPatience)
	defer cancel()
	provider, err := ci.Parse(cmp.Or(by, string(ci.Auto)))
	if err != nil {
		provider = ci.Auto // which is the problem, perhaps
	}
	log := ci.New(ci.Options{Provider: provider, Log: stderr})
	_ = log.Refused(ctx, problem.Error(), ran) // the exit code says so too
}

// ciPatience is how long another program may take to report to the CI system, and git to count.
const ciPatience = 5 * time.Second

// tellCI reports the verdict to the CI system. Failures are only warnings, since the run has
// already ended.
func (s *Session) tellCI(state *core.State, result core.Result) {
	if by := s.ci.Provider(); by == ci.Off || by == ci.Generic {
		return // and git is not asked whose the files are
	}
	ctx, cancel := context.WithTimeout(context.Background(), ciPatience)
	defer cancel()
	document, err := os.ReadFile(s.run.ResultFile())
	if err != nil {
		s.app.Say.Warn("the CI system could not be told the whole result: %v", err)
	}
	verdict := ci.Verdict{Result: result, Limit: state.Limits.Iterations, RunDir: s.run.Dir, Document: document, Failing: failing(ctx, state), Summary: func(w io.Writer, limit int) error {
		r, err := report.Load(s.run.Dir)
		if err != nil {
			return err
		}
		return r.Markdown(w, limit)
	}}
	if err := s.ci.Finish(ctx, verdict); err != nil {
		s.app.Say.Warn("the CI system could not be told: %v", err)
	}
}
