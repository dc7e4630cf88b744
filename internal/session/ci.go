package session

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/report"
)

// CIFacts is what the environment says about the CI job, for policies.
func CIFacts(dir string) policy.CI {
	get := os.Getenv
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // not known: 0
		return n
	}
	switch {
	case get("GITHUB_ACTIONS") != "":
		pr, _, _ := strings.Cut(strings.TrimPrefix(get("GITHUB_REF"), "refs/pull/"), "/")
		c := policy.CI{
			In: true, Name: "github", Event: get("GITHUB_EVENT_NAME"), Attempt: number(get("GITHUB_RUN_ATTEMPT")),
			Branch: cmp.Or(get("GITHUB_HEAD_REF"), get("GITHUB_REF_NAME")), BaseBranch: get("GITHUB_BASE_REF"), PullRequest: number(pr),
		}
		if get("GITHUB_REF_TYPE") == "tag" {
			c.Branch, c.Tag = "", get("GITHUB_REF_NAME")
		}
		return c
	case get("GITLAB_CI") != "":
		return policy.CI{
			In: true, Name: "gitlab", Event: get("CI_PIPELINE_SOURCE"),
			Branch: cmp.Or(get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"), get("CI_COMMIT_BRANCH")), BaseBranch: get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
			Tag: get("CI_COMMIT_TAG"), PullRequest: number(get("CI_MERGE_REQUEST_IID")),
		}
	case get("BUILDKITE") != "":
		return policy.CI{
			In: true, Name: "buildkite", Event: get("BUILDKITE_SOURCE"), Attempt: number(get("BUILDKITE_RETRY_COUNT")) + 1,
			Branch: get("BUILDKITE_BRANCH"), BaseBranch: get("BUILDKITE_PULL_REQUEST_BASE_BRANCH"), Tag: get("BUILDKITE_TAG"), PullRequest: number(get("BUILDKITE_PULL_REQUEST")),
		}
	}
	if get("TF_BUILD") != "" {
		return policy.CI{
			In: true, Name: "azure", Event: get("BUILD_REASON"), Attempt: number(get("SYSTEM_JOBATTEMPT")),
			Branch:     cmp.Or(get("SYSTEM_PULLREQUEST_SOURCEBRANCH"), get("BUILD_SOURCEBRANCHNAME")),
			BaseBranch: get("SYSTEM_PULLREQUEST_TARGETBRANCH"), PullRequest: number(get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")),
		}
	}
	return policy.CI{In: console.InCI(), Branch: gitBranch(dir)}
}

// gitBranch is the branch that is checked out, empty when there is none.
func gitBranch(dir string) string {
	git := exec.Command("git", "symbolic-ref", "--short", "-q", "HEAD")
	git.Dir = dir
	out, err := git.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// speakToCI prepares the log of the CI job: what the command prints is data
// there.
func (s *Session) speakToCI() {
	s.ci = ci.New(ci.Options{
		Provider: ci.Provider(s.opts.CI), Log: s.outlets.messages(s.app, ci.LogOf(s.app.Stdout, s.app.Stderr)),
		AllowCommands: s.opts.CICommands == "allow",
	})
	s.app.Say.W = s.ci.Messages(s.app.Say.W)
}

// ciPatience is how long another program may take to tell the CI system.
const ciPatience = 5 * time.Second

// tellCI tells the CI system the verdict. What it could not be told is a warning:
// the run has ended whatever it learns.
func (s *Session) tellCI(state *looprun.State, result looprun.Result) {
	ctx, cancel := context.WithTimeout(context.Background(), ciPatience)
	defer cancel()
	verdict := ci.Verdict{Result: result, Limit: state.Limits.Iterations, RunDir: s.run.Dir, Summary: func(w io.Writer, limit int) error {
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
