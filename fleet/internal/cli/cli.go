// Package cli is the command line of looprun-fleet.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
	"go.temporal.io/api/serviceerror"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/fleet"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/remote"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// Dev runs a server on this machine: it calls ready with its address, and ends with the
// context.
type Dev func(ctx context.Context, o DevOptions, ready func(address string) error) error

// DevOptions configure the server of looprun-fleet dev.
type DevOptions struct {
	Port int    // of 127.0.0.1
	File string // the database; empty: in memory
}

type commands struct {
	fleet.Server `embed:""`
	Version      kong.VersionFlag `help:"Show the version."`

	Dev    devCmd    `cmd:"" help:"Try it: a server and a worker on this machine."`
	Init   initCmd   `cmd:"" help:"Make the namespace on the server, and a key."`
	Worker workerCmd `cmd:"" help:"Run loops on this machine."`
	Submit submitCmd `cmd:"" help:"Start the loops of a loops.yaml, or one."`
	List   listCmd   `cmd:"" help:"List loops; with --asking those that wait for an answer."`
	Show   shown     `cmd:"" help:"Show what happened in a loop."`

	Explain shown     `cmd:"" help:"Explain the state of a loop."`
	Report  shown     `cmd:"" help:"Write a report of a loop."`
	Watch   watchCmd  `cmd:"" help:"Let looprun serve and list show the active loops, and answer them."`
	Export  exportCmd `cmd:"" help:"Write a loop into a folder that looprun reads."`
	Answer  answerCmd `cmd:"" help:"Answer the question of a loop."`
	Cancel  cancelCmd `cmd:"" help:"End loops, and the iterations that run."`
	Logs    logsCmd   `cmd:"" help:"Show what an iteration printed."`
	Wait    waitCmd   `cmd:"" help:"Wait until loops have ended."`
	Budget  budgetCmd `cmd:"" help:"Show or set what loops of a group may spend together."`
	Prune   pruneCmd  `cmd:"" help:"Forget loops that have ended."`
	Codec   codecCmd  `cmd:"" help:"Let Temporal's own web page show what loops store: its codec server."`
}

// app is passed to every command.
type app struct {
	ctx    context.Context
	server *fleet.Server
	out    io.Writer
	dev    Dev
	open   *fleet.Fleet
	code   int

	version string
}

func (a *app) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "looprun-fleet: "+format+"\n", args...)
}

// fleet connects to the server, once, until the program ends.
func (a *app) fleet() (f *fleet.Fleet, err error) {
	if a.open == nil {
		a.open, err = a.server.Dial(a.ctx)
	}
	return a.open, err
}

// Main runs a command and returns the exit code. The version is that of a release, if this is one.
// A nil dev means a program without a server.
func Main(args []string, version string, dev Dev) int {
	if b, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = b.Main.Version
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	var c commands
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname()
	a := &app{ctx: ctx, server: &c.Server, out: os.Stdout, dev: dev, version: version}
	parser, err := kong.New(
		&c, kong.Name("looprun-fleet"), kong.Description("Run loops on many machines, with a Temporal server between them."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.KindMapper(reflect.String, kong.MapperFunc(config.AsGiven)), kong.Bind(a), kong.BindToProvider(a.fleet), kong.Vars{"version": version, "user": who, "host": host},
	)
	if err != nil {
		panic(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	var command []string
	own, dashes := args, slices.Index(args, "--")
	if dashes >= 0 {
		own, command = args[:dashes], args[dashes+1:]
	}
	k, err := parser.Parse(own)
	if err == nil && dashes >= 0 && !strings.HasPrefix(k.Command(), "submit") {
		err = config.Usage("words after -- are the command of submit", "leave them out")
	}
	if err == nil {
		c.Submit.Command = command
		err = k.Run()
	}
	if left := (*serviceerror.Canceled)(nil); ctx.Err() != nil && errors.As(err, &left) {
		err = errors.New("interrupted; loops that were submitted go on")
	}
	if err != nil {
		for _, line := range strings.Split(termsafe.Text(err.Error()), "\n") {
			fmt.Fprintln(os.Stderr, "looprun-fleet:", line)
		}
		return core.ExitFailed
	}
	return a.code
}

// devCmd is a whole fleet on one machine.
type devCmd struct {
	Slots int    `default:"4" placeholder:"N" help:"How many loops run at the same time (${default})."`
	Port  int    `default:"7233" placeholder:"N" help:"The server's port on 127.0.0.1 (${default})."`
	DB    string `name:"db" placeholder:"FILE" help:"Keep what the server knows in this file (in memory: it is gone with the server)."`
	Root  string `placeholder:"DIR" help:"The worker's folder (one below the user's cache)."`
	Alone bool   `name:"no-worker" help:"Start the server alone."`
}

func (c *devCmd) Run(a *app) error {
	if a.dev == nil {
		return c.become()
	}
	return a.dev(a.ctx, DevOptions{c.Port, c.DB}, func(address string) error {
		a.server.Address = address
		f, err := a.fleet()
		if err != nil {
			return err
		}
		if err := f.Init(a.ctx, 72*time.Hour); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "server %s, namespace %s; elsewhere on this machine: export LOOPRUN_FLEET_ADDRESS=%[1]s\n", address, a.server.Namespace)
		if c.Alone {
			<-a.ctx.Done()
			return nil
		}
		return (&workerCmd{Worker: fleet.Worker{Slots: c.Slots, Root: c.Root, Name: "dev", Drain: 10 * time.Second}}).Run(a, f)
	})
}

// become runs looprun-fleet-dev, which includes a server, in place of this program.
func (c *devCmd) become() error {
	const name = "looprun-fleet-dev"
	server, err := proc.Beside(name)
	if err != nil {
		return config.Usage(name+" is neither beside this program nor on the PATH", "make fleet-dev builds it, with a server; or start a server otherwise (temporal server start-dev --namespace looprun), and then looprun-fleet init and looprun-fleet worker")
	}
	return &os.PathError{Op: "exec", Path: server, Err: syscall.Exec(server, append([]string{name}, os.Args[1:]...), os.Environ())}
}

type initCmd struct {
	Retention time.Duration `default:"720h" placeholder:"D" help:"For how long the server keeps loops that have ended (${default})."`
}

func (c *initCmd) Run(a *app) error {
	name := a.server.KeyFile
	if _, err := os.Stat(name); name != "" && errors.Is(err, os.ErrNotExist) {
		if err := fleet.MakeKey(name); err != nil {
			return err
		}
		a.say("%s is the new key: every worker, and everybody who submits or answers, needs a copy; without it nothing of these loops can be read", name)
	}
	f, err := a.fleet()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, time.Minute)
	defer cancel()
	if err = f.Init(ctx, c.Retention); err == nil {
		fmt.Fprintf(a.out, "namespace %s is ready on %s\n", a.server.Namespace, a.server.Address)
	}
	return err
}

type workerCmd struct {
	fleet.Worker `embed:""`
	User         string `placeholder:"NAME" help:"Once the keys are read, run as this user, with all loops: they cannot read the keys then. Needs root at the start."`
	List         string `name:"allow" placeholder:"FILE" help:"What may be run here: repositories, commands and variables, in YAML. Needed where the server is on another machine."`
}

func (c *workerCmd) Run(a *app, f *fleet.Fleet) error {
	w := &c.Worker
	w.Queue, w.Log = a.server.Queue, slog.New(slog.NewTextHandler(os.Stderr, nil))
	if w.Slots < 1 {
		return config.Usage(fmt.Sprintf("--slots %d would run nothing", w.Slots), "give 1 or more")
	}
	if i := slices.IndexFunc(w.Offers, func(offer string) bool { return !loops.IsKey(offer) }); i >= 0 {
		return config.Usage(fmt.Sprintf("--offers %q is not one word", w.Offers[i]), "use letters, digits, - and _")
	}
	var err error
	if c.List != "" {
		if w.Allow, err = fleet.ReadAllow(c.List); err != nil {
			return err
		}
	} else if !a.server.Local() {
		return config.Usage("the server is on another machine, and there is no list of allowed commands", "give --allow FILE")
	}
	if w.Name == "" || strings.Contains(w.Name, "@") {
		return config.Usage(fmt.Sprintf("--name %q is empty or has an @", w.Name), "use another name")
	}
	if c.User != "" {
		if err = switchTo(c.User, w.Root, a.server.KeyFile, a.server.TLSKey, a.server.APIKeyFile); err != nil {
			return fmt.Errorf("--user %s: %w", c.User, err)
		}
	}
	w.Environ = os.Environ()
	if w.Root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		w.Root = filepath.Join(cache, "looprun-fleet", w.Name)
	}
	if w.Root, err = filepath.Abs(w.Root); err != nil {
		return err
	}
	return w.Serve(a.ctx, f.Client(), func() {
		fmt.Fprintf(a.out, "worker %s runs up to %d loops in %s\n", w.Name, w.Slots, w.Root)
	})
}

// ofRoot matches the names of variables that are about root's session.
var ofRoot = regexp.MustCompile(`(XDG_|SUDO_)[^=]*|MAIL|SSH_AUTH_SOCK|SSH_AGENT_PID`)

// switchTo gives this process the rights of a user, for good, and makes the folder root for it. The
// files that were read before stay its own: the system keeps the memory of such a process from
// others of that user. A user that could read the keys is refused.
func switchTo(name, root string, keys ...string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	ids, err := u.GroupIds()
	var n []int // the user, its group, and all of its groups
	for _, id := range append([]string{u.Uid, u.Gid}, ids...) {
		i, wrong := strconv.Atoi(id)
		n, err = append(n, i), errors.Join(err, wrong)
	}
	if n[0] == 0 || os.Geteuid() != 0 {
		return errors.New("root has to start the worker, for a user other than root")
	}
	if parent, missing := os.OpenRoot(filepath.Dir(filepath.Clean(root))); missing == nil {
		if base := filepath.Base(root); parent.Mkdir(base, 0o700) == nil {
			err = errors.Join(err, parent.Lchown(base, n[0], n[1])) // follows no link that a loop put there
		}
		err = errors.Join(err, parent.Close())
	}
	for _, variable := range os.Environ() {
		err = errors.Join(err, os.Unsetenv(ofRoot.FindString(variable)))
	}
	if err = cmp.Or(err, syscall.Setgroups(n[1:]), syscall.Setgid(n[1]), syscall.Setuid(n[0]), os.Setenv("SHELL", "/bin/sh"),
		os.Setenv("HOME", u.HomeDir), os.Setenv("USER", name), os.Setenv("LOGNAME", name)); err != nil {
		return err
	}
	for _, file := range keys {
		info, _ := os.Stat(file)
		if _, err := os.ReadFile(file); err == nil || info != nil && info.Sys().(*syscall.Stat_t).Uid == uint32(n[0]) {
			return config.Usage("it can read "+file, fmt.Sprintf("chown root %s and chmod 600 %[1]s", file))
		}
	}
	return nil
}

type submitCmd struct {
	File    string   `arg:"" optional:"" help:"A loops.yaml."`
	Count   int      `short:"n" default:"1" placeholder:"N" help:"Without a file: how many loops run the command (${default})."`
	Check   string   `placeholder:"LINE" help:"Without a file: the shell line that judges each iteration."`
	Name    string   `placeholder:"TEXT" help:"Without a file: what the loop is called."`
	Repo    string   `placeholder:"URL" help:"Without a file: the git repository that it works in, which workers can reach."`
	Ref     string   `placeholder:"REF" help:"Without a file: what work starts from (HEAD)."`
	Group   string   `placeholder:"TEXT" help:"Without a file: whose loop it is."`
	Needs   []string `placeholder:"WORD,…" help:"Without a file: what its worker has to offer."`
	Options []string `short:"o" name:"option" placeholder:"KEY=VALUE" sep:"none" help:"Without a file: a key of looprun.yaml; repeatable."`
	ID      string   `name:"id" placeholder:"TEXT" help:"What this submission is called, not encrypted: a second one of that name starts only what is missing."`
	Wait    bool     `help:"Wait until the loops have ended."`
	Command []string `kong:"-"`
}

func (submitCmd) Help() string {
	return `Example:
  looprun-fleet submit loops.yaml
  looprun-fleet submit -n 3 --check 'go test ./...' --repo . -- ./fix.sh`
}

func (c *submitCmd) Run(a *app) error {
	list, err := c.read(a.version)
	if err != nil {
		return err
	}
	f, err := a.fleet()
	if err != nil {
		return err
	}
	ids, err := f.Submit(a.ctx, list, c.ID, func(id, name string) { fmt.Fprintf(a.out, "%s  %s\n", id, termsafe.Line(name)) })
	if err == nil && c.Wait {
		err = (&waitCmd{ids}).Run(a, f)
	}
	return err
}

func (c *submitCmd) read(version string) ([]fleet.Loop, error) {
	if c.File != "" {
		if len(c.Command) > 0 {
			return nil, config.Usage("a file and a command after -- exclude each other", "use one of them")
		}
		return fleet.Read(c.File, version)
	}
	if len(c.Command) == 0 {
		return nil, config.Usage("there is nothing to submit", "name a loops.yaml, or write looprun-fleet submit -- COMMAND [ARG…]")
	}
	command := loops.Command{Words: c.Command}
	l := loops.Loop{
		Name: cmp.Or(c.Name, fleet.NameOf(command)), Group: c.Group, Repo: c.Repo, Ref: c.Ref, Check: config.ShellLine(c.Check), Command: command,
		Needs: c.Needs, Options: loops.Options{},
	}
	for _, o := range c.Options {
		key, value, ok := strings.Cut(o, "=")
		if !ok {
			return nil, config.Usage(fmt.Sprintf("-o %s is no KEY=VALUE", o), "write -o max_iterations=5")
		}
		l.Options[key] = value
	}
	var list []loops.Loop
	for i := range c.Count {
		one := l
		if c.Count > 1 {
			one.Name = fmt.Sprintf("%s %d", l.Name, i+1)
		}
		list = append(list, one)
	}
	return fleet.Check(list, ".", version)
}

type listCmd struct {
	fleet.Filter `embed:""`
	Format       string `enum:"text,json" default:"text" help:"${enum} (${default})."`
}

func (c *listCmd) Run(a *app, f *fleet.Fleet) error {
	if c.Format == "json" {
		return f.List(a.ctx, c.Filter, func(e fleet.Entry) error { return json.NewEncoder(a.out).Encode(e) })
	}
	n := 0
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	err := f.List(a.ctx, c.Filter, func(e fleet.Entry) error {
		if n++; n == 1 {
			fmt.Fprintln(t, "LOOP\tNAME\tGROUP\tSTATUS\tITER\tSTARTED\tWORKER\tQUESTION OR REASON")
		}
		note := e.Reason
		if e.Question != nil && e.Status == fleet.Asking && !e.Stuck {
			note = fmt.Sprintf("%s: %s", e.Question.Header, strings.Join(e.Question.Options, ", "))
		}
		_, err := fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", e.ID, termsafe.Short(e.Name, 40), termsafe.Line(e.Group), e.Status,
			e.Iteration, console.Ago(time.Now(), e.Started), termsafe.Line(e.Worker), termsafe.Line(note))
		return err
	})
	if n == 0 && err == nil {
		a.say("there is none; --all lists those that have ended as well")
	}
	return errors.Join(err, t.Flush())
}

// one is a named loop; once that is applied, Loop is its id.
type one struct {
	Loop string `arg:"" help:"The loop: its id or a part of it, or its name."`
}

func (c *one) AfterApply(a *app, f *fleet.Fleet) (err error) {
	c.Loop, err = f.Find(a.ctx, c.Loop)
	return err
}

// exported runs looprun on the loop, exported as a run of this machine.
func (c *one) exported(a *app, f *fleet.Fleet, outputs bool, args ...string) error {
	reader, err := proc.Beside("looprun")
	if err != nil {
		return config.Usage("looprun is neither beside this program nor on the PATH", "install it: it shows loops as it shows runs")
	}
	dir, err := os.MkdirTemp("", "looprun-fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run, err := f.Export(a.ctx, c.Loop, filepath.Join(dir, ".looprun"), outputs)
	if err != nil {
		return err
	}
	if scratchpad.Summarize(run).Status == core.StatusCrashed { // it has no end: it goes on, elsewhere
		release, err := scratchpad.Hold(run)
		if err != nil {
			return err
		}
		defer func() { _ = release() }()
	}
	cmd := exec.CommandContext(a.ctx, reader, append([]string{args[0], c.Loop, "--state-dir", filepath.Join(dir, ".looprun")}, args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if e, _ := f.Entry(a.ctx, c.Loop); e.Reason != "" {
		a.say("%s: %s", c.Loop, termsafe.Line(e.Reason))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		a.code = exit.ExitCode()
		return nil
	}
	return err
}

// shown is what a command of looprun shows of a loop.
type shown struct {
	one
	Format string `placeholder:"NAME" help:"A format that looprun's own command has."`
}

func (c *shown) Run(a *app, f *fleet.Fleet, k *kong.Context) error {
	args := []string{k.Selected().Name}
	if c.Format != "" {
		args = append(args, "--format", c.Format)
	}
	return c.exported(a, f, args[0] == "report", args...)
}

// watched is a fleet for looprun's own commands, which answer in the name of by.
type watched struct {
	*fleet.Fleet
	by string
}

func (w watched) Active(ctx context.Context, each func(id, version string)) error {
	return w.List(ctx, fleet.Filter{}, func(e fleet.Entry) error {
		version, err := json.Marshal(e)
		each(e.ID, string(version))
		return err
	})
}

func (w watched) Answer(ctx context.Context, id, questionID string, a core.Answer) error {
	_, err := w.Fleet.Answer(ctx, id, questionID, w.by, a)
	return err
}

type watchCmd struct {
	By string `default:"${user}" placeholder:"NAME" help:"Who answers (${default})."`
}

func (c *watchCmd) Run(a *app, f *fleet.Fleet) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "looprun-fleet", url.PathEscape(a.server.Namespace+"@"+a.server.Address), scratchpad.StateDirName)
	return remote.Follow(a.ctx, dir, watched{f, c.By}, &console.Observer{Messages: console.Messages{W: os.Stderr, Lead: "looprun-fleet:"}}, func() {
		fmt.Fprintf(a.out, "looprun serve --all and looprun list --all show the active loops, until Ctrl-C here; they are in %s\n", dir)
	})
}

type exportCmd struct {
	one
	To      string `default:".looprun" placeholder:"DIR" help:"The state directory to write it into (${default})."`
	Outputs bool   `default:"true" negatable:"" help:"Also the end of what iterations printed (yes)."`
}

func (c *exportCmd) Run(a *app, f *fleet.Fleet) error {
	dir, err := f.Export(a.ctx, c.Loop, c.To, c.Outputs)
	if err == nil {
		fmt.Fprintln(a.out, dir)
	}
	return err
}

type answerCmd struct {
	one
	Option   string  `arg:"" optional:"" help:"The option."`
	Text     *string `placeholder:"TEXT" help:"The answer to a question for a text."`
	Guidance string  `placeholder:"TEXT" help:"Guidance for the next iteration."`
	Reason   string  `placeholder:"TEXT" help:"Why."`
	Question string  `placeholder:"ID" help:"The question (the one that is asked)."`
	By       string  `default:"${user}" placeholder:"NAME" help:"Who answers (${default})."`
}

func (c *answerCmd) Run(a *app, f *fleet.Fleet) error {
	if c.Question == "" {
		s, err := f.State(a.ctx, c.Loop)
		if err != nil {
			return err
		}
		open := s.Pending()
		if len(open) == 0 {
			return fmt.Errorf("loop %s asks nothing now", c.Loop)
		}
		if c.Question = open[0].ID; c.Option == "" && c.Text == nil {
			return config.Usage(fmt.Sprintf("%s\n%s", open[0].Header, open[0].Text), "answer with one of "+strings.Join(session.OptionsOf(open[0]), ", "))
		}
	}
	t, err := f.Answer(a.ctx, c.Loop, c.Question, c.By, core.Answer{Option: c.Option, Text: c.Text, Guidance: c.Guidance, Reason: c.Reason})
	if err == nil {
		fmt.Fprintf(a.out, "%s: %s is answered with %q\n", c.Loop, c.Question, t.Answer.String())
	}
	return err
}

type cancelCmd struct {
	Loops []string `arg:"" help:"The loops."`
	Force bool     `help:"End them at once, without a worker: for loops that no worker can continue."`
}

func (c *cancelCmd) Run(a *app, f *fleet.Fleet) error {
	return a.each(f, c.Loops, func(id string) error { return f.Cancel(a.ctx, id, c.Force) })
}

// each calls do with the id of each loop that is named.
func (a *app) each(f *fleet.Fleet, names []string, do func(id string) error) error {
	var errs []error
	for _, name := range names {
		id, err := f.Find(a.ctx, name)
		if err == nil {
			err = do(id)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

type logsCmd struct {
	one
	Iteration int  `short:"n" default:"-1" placeholder:"N" help:"The iteration (the last)."`
	Running   bool `help:"The end of what the iteration that runs has printed."`
}

func (c *logsCmd) Run(a *app, f *fleet.Fleet) error {
	if c.Running {
		text, host, err := f.Tail(a.ctx, c.Loop)
		if err == nil && host == "" {
			return fmt.Errorf("no iteration of loop %s runs", c.Loop)
		}
		fmt.Fprintln(a.out, termsafe.Text(text))
		return err
	}
	var found *fleet.Iterated
	err := f.Outputs(a.ctx, c.Loop, func(out fleet.Iterated) error {
		if c.Iteration < 0 || out.Result.Iteration == c.Iteration {
			found = &out
		}
		return nil
	})
	if err != nil || found == nil {
		return cmp.Or(err, fmt.Errorf("no such iteration of loop %s has ended", c.Loop))
	}
	if found.Before > 0 {
		a.say("the first %d bytes are on the worker that ran it, in runs/%s of its folder", found.Before, c.Loop)
	}
	_, err = a.out.Write(found.Printed)
	return err
}

type waitCmd struct {
	Loops []string `arg:"" help:"The loops."`
}

func (c *waitCmd) Run(a *app, f *fleet.Fleet) error {
	return a.each(f, c.Loops, func(id string) error {
		r, err := f.Wait(a.ctx, id, func(reason string) { a.say("%s: %s", id, reason) })
		if err == nil {
			fmt.Fprintf(a.out, "%s  %s\n", id, r.Status)
			a.code = cmp.Or(a.code, r.ExitCode)
		}
		return err
	})
}

type budgetCmd struct {
	Group string   `arg:"" help:"Whose budget."`
	USD   *float64 `name:"usd" placeholder:"N" help:"Set the budget to N US dollars, including money already spent."`
}

func (c *budgetCmd) Run(a *app, f *fleet.Fleet) error {
	read := f.Budget
	if c.USD != nil {
		read = func(ctx context.Context, group string) (fleet.Budget, error) { return f.SetBudget(ctx, group, *c.USD) }
	}
	b, err := read(a.ctx, c.Group)
	if err != nil {
		return err
	}
	limit := "no limit"
	if b.Limit != nil {
		limit = fmt.Sprintf("$%.2f", *b.Limit)
	}
	fmt.Fprintf(a.out, "%s: $%.2f of %s spent, $%.2f reserved\n", c.Group, b.Spent, limit, b.Open())
	return nil
}

type pruneCmd struct {
	Older  time.Duration `default:"336h" placeholder:"D" help:"Loops that ended so long ago (${default})."`
	DryRun bool          `help:"Only list them."`
}

func (c *pruneCmd) Run(a *app, f *fleet.Fleet) error {
	n, err := f.Prune(a.ctx, time.Now().Add(-c.Older), c.DryRun, func(e fleet.Entry) { fmt.Fprintf(a.out, "%s  %s\n", e.ID, termsafe.Line(e.Name)) })
	a.say("%d loops", n)
	return err
}

type codecCmd struct {
	Listen string `default:"127.0.0.1:8234" placeholder:"HOST:PORT" help:"Where the page finds it, on this machine (${default}). Every program of this machine that holds what the server stores can have it decrypted there."`
	Origin string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"Where the page is (${default}); no other page may ask."`
}

func (c *codecCmd) Run(a *app) error {
	decoder, err := a.server.Decoder(c.Origin)
	if here := (&fleet.Server{Address: c.Listen}); err == nil && !here.Local() {
		err = config.Usage("--listen "+c.Listen+" is not on this machine alone", "use 127.0.0.1: what is sent there is plain text")
	}
	if err != nil {
		return err
	}
	server := &http.Server{Addr: c.Listen, Handler: decoder, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(a.ctx, func() { _ = server.Close() })()
	fmt.Fprintf(a.out, "codec server http://%s for %s\n", c.Listen, c.Origin)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
