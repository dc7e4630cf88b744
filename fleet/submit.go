package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// Read reads a loops.yaml and checks all of its loops.
func Read(name string, version string) ([]Loop, error) {
	f, err := loops.Read(name)
	switch {
	case err != nil:
		return nil, err
	case f.MaxCost != nil || f.MaxTokens != nil:
		return nil, config.Usage(name+": total_cost and total_tokens for all loops together are not kept on a fleet", "put the loops in a group, and give that a budget: looprun-fleet budget GROUP --usd N")
	}
	dir := filepath.Dir(name)
	if top, err := git.Run(context.Background(), dir, nil, "rev-parse", "--show-toplevel"); err == nil {
		for i := range f.Loops { // the repository that the file is read in
			f.Loops[i].Repo = cmp.Or(f.Loops[i].Repo, top)
		}
	}
	return Check(f.Loops, dir, version)
}

// Check returns the loops, without ids, in the form that a workflow takes. Paths of repositories
// and policies are relative to dir.
func Check(list []loops.Loop, dir, version string) ([]Loop, error) {
	var all []Loop
	var errs []error
	for _, l := range list {
		s, err := check(l, dir, version)
		if err != nil {
			errs = append(errs, fmt.Errorf("loop %q: %w", l.Name, err))
		}
		all = append(all, s)
	}
	return all, errors.Join(errs...)
}

// NameOf returns a name for a loop that has none: the program that it runs, since names are
// not encrypted and arguments may be private.
func NameOf(c loops.Command) string {
	words := append(strings.Fields(string(c.Shell)), c.Words...)
	if name := filepath.Base(words[0]); !strings.ContainsAny(name, "=\"'$;") {
		return name
	}
	return "loop"
}

func check(l loops.Loop, dir, version string) (Loop, error) {
	if l.Name == l.Command.String() {
		l.Name = NameOf(l.Command)
	}
	if len(l.Copy) > 0 {
		return Loop{}, errors.New("copy: names files of this machine, which workers do not have; let setup make them")
	}
	o := config.Defaults()
	o.Name, o.Shell = l.Name, l.Command.Shell
	if err := cmp.Or(o.Set(l.Keys(), dir), o.Wrong()); err != nil {
		return Loop{}, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return Loop{}, err
	}
	at, err := session.New(&session.Program{
		Stdin: null, Stdout: null, Stderr: null, Command: l.Command.Words, Version: version,
		Say: &console.Observer{Messages: console.Messages{W: os.Stderr}}, Config: &config.Settings{},
	}, o)
	if err != nil {
		return Loop{}, err
	}
	started, err := at.Describe("")
	if err != nil {
		return Loop{}, err
	}
	return Loop{Started: started, Work: Work{
		Group: l.Group, Repo: repository(l.Repo, dir), Ref: l.Ref, Dir: l.Dir, Setup: string(l.Setup), Env: l.Env,
		Debug: o.Debug != "", Responds: o.Responds(),
		WaitAnswer: time.Duration(o.WaitAnswer), WaitDelay: o.WaitDelay.Or(0), Backoff: o.Delays(), RetryFor: time.Duration(l.RetryFor), Needs: l.Needs,
	}}, nil
}

// repository returns the URL of a repository, or its absolute path.
func repository(repo, dir string) string {
	if repo == "" || strings.Contains(repo, ":") || filepath.IsAbs(repo) {
		return repo
	}
	whole, _ := filepath.Abs(filepath.Join(dir, repo)) // empty where the working directory is gone
	return cmp.Or(whole, repo)
}

// Submitted is the workflow whose history keeps the ids of loops that were submitted together, and
// a digest of the loops.
func Submitted(workflow.Context, []string, string) error { return nil }

// idsOf returns the ids for loops that are submitted together: those that it returned the first
// time for the same request; new ones if that is empty.
func (f *Fleet) idsOf(ctx context.Context, request string, list []Loop) ([]string, error) {
	ids := scratchpad.NewIDs("", time.Now(), len(list))
	if request == "" {
		return ids, nil
	}
	digest := sha256.New()
	for _, l := range list {
		l.Started.Version = ""
		_ = json.NewEncoder(digest).Encode(l) // as the client does, which says what is wrong
	}
	id, sum, was := "submit/"+request, fmt.Sprintf("%x", digest.Sum(nil)), ""
	_, err := f.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: f.server.Queue, WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, Submitted, ids, sum)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		if _, err = f.begun(ctx, id, "", &ids, &was); err == nil && sum != was {
			err = fmt.Errorf("%s is the id of other loops, or of these before they were changed; give them another --id", request)
		}
	}
	return ids, err
}

// Submit starts the loops, calls done for each with its id, and returns the ids. Those that were
// submitted before in the same request are not started again.
func (f *Fleet) Submit(ctx context.Context, list []Loop, request string, done func(id, name string)) ([]string, error) {
	for _, l := range list {
		if !f.server.Local() && filepath.IsAbs(l.Work.Repo) {
			return nil, config.Usage(fmt.Sprintf("loop %q: the repository %s is a folder of this machine", l.Started.Name, l.Work.Repo), "write repo: with a URL that every worker can reach")
		}
	}
	ids, err := f.idsOf(ctx, request, list)
	if err != nil {
		return nil, fmt.Errorf("the loops cannot be submitted: %w", f.explained(err))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i, in := range list {
		group.Go(func() error {
			for ; ; ids[i] = scratchpad.NewIDs("", time.Now(), i+1)[i] {
				in.Started.RunID = ids[i]
				_, err := f.client.ExecuteWorkflow(ctx, f.start(in), Run, in)
				again := is[*serviceerror.WorkflowExecutionAlreadyStarted](err)
				if again && request == "" {
					continue // somebody submitted another in this very moment
				}
				if err != nil && !again {
					return fmt.Errorf("loop %q cannot be submitted: %w", in.Started.Name, err)
				}
				done(ids[i], in.Started.Name)
				return nil
			}
		})
	}
	return ids, group.Wait()
}

func (f *Fleet) start(in Loop) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: in.Started.RunID, TaskQueue: f.server.Queue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, WorkflowExecutionErrorWhenAlreadyStarted: true,
		// Share slots fairly between groups.
		Priority: temporal.Priority{FairnessKey: cut(in.Work.Group, 64)},
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(AttrStatus).ValueSet(Queued),
			temporal.NewSearchAttributeKeyKeyword(AttrName).ValueSet(cut(in.Started.Name, 255)),
			temporal.NewSearchAttributeKeyKeyword(AttrGroup).ValueSet(cut(in.Work.Group, 255)),
		),
	}
}

// cut shortens a text to as many bytes as the server and its database accept.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
