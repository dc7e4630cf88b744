package ci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
)

// annotateTimeout is how long Buildkite's agent may take to send the annotation.
const annotateTimeout = 15 * time.Second

// buildkiteAnnotation shows the verdict and the report on the build's page. It does nothing if
// the agent's program is missing, as in a container.
func buildkiteAnnotation(ctx context.Context, v Verdict, timeout time.Duration) error {
	how := levelOf(v.Result)
	if how == silent {
		return nil
	}
	agent, err := exec.LookPath("buildkite-agent")
	if err != nil {
		return nil //nolint:nilerr // not there: nothing to be warned of
	}
	page := fmt.Appendf(nil, "**%s**\n\n", headline(v.Result))
	if v.Summary == nil {
		page = append(page, verdict(v.Result, v.Limit)+"\n"...)
	} else {
		report, err := summary(v, SummaryLimit-len(page))
		if err != nil {
			return fmt.Errorf("the build was not annotated: %w", err)
		}
		page = append(page, report...)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, agent, "annotate", "--style", string(how), "--context", "looprun-"+identifier(v.Result.RunID))
	cmd.Stdin = bytes.NewReader(page)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		switch {
		case ctx.Err() != nil:
			err = errors.New("there was no time left")
		case limited.Err() != nil:
			err = fmt.Errorf("it took longer than %s", timeout)
		}
		return fmt.Errorf("the build was not annotated: buildkite-agent annotate: %w %s", err, termsafe.Short(said.String(), 500))
	}
	return nil
}
