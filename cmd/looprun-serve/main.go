// Command looprun-serve is the page of looprun serve, which starts it: a separate program, so
// that looprun does not include a web server. It uses only looprun's command line to act on a
// run, as everybody else does.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/dashboard"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/program"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/scratchpad"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "looprun:", termsafe.Line(err.Error()))
		os.Exit(125)
	}
}

// looprun is the looprun that started this program.
type looprun struct{ program.Looprun }

func run(args []string) error {
	flags := flag.NewFlagSet("looprun-serve", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "looprun-serve is started by looprun serve; see looprun serve --help")
	}
	self := flags.String("looprun", "", "the looprun that answers")
	port := flags.Uint("port", 0, "the port to listen on")
	dir := flags.String("state-dir", "", "where runs are kept")
	all := flags.Bool("all", false, "show all runs of this user")
	open := flags.Bool("open", false, "open the page")
	readOnly := flags.Bool("read-only", false, "show only")
	list := flags.Bool("devices", false, "list the paired devices")
	revoke := flags.String("revoke", "", "the paired device to remove")
	var hosts []string
	flags.Func("host", "a further name of the server", func(name string) error { hosts = append(hosts, name); return nil })
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if *self == "" || *dir == "" || flags.NArg() > 0 {
		return errors.New("looprun-serve is started by looprun serve")
	}
	say := func(line string) { fmt.Fprintln(os.Stderr, "looprun:", line) }
	devices := xdg.State()
	if devices != "" {
		devices = filepath.Join(devices, "devices")
	}
	switch {
	case *list:
		return listDevices(os.Stdout, devices)
	case *revoke != "":
		return dashboard.Revoke(devices, *revoke)
	case *port == 0: // the next looprun serve has another address
		devices = ""
	}
	l := looprun{program.Looprun{Path: *self, Via: core.ViaWeb}}
	o := dashboard.Options{Port: int(*port), Hosts: hosts, Devices: devices, Say: say, Terminal: console.IsTerminal(os.Stderr), Explain: l.explain, Diff: l.diff, Dirs: func() []string { return []string{*dir} }}
	if *all {
		o.Dirs = func() []string {
			dirs, _ := scratchpad.StateDirs(*dir) // what could be read of them
			return dirs
		}
	}
	if !*readOnly {
		o.Actions = &dashboard.Actions{Answer: l.Answer, Order: l.order, Resume: l.Resume}
	}
	server, err := dashboard.Listen(o)
	if err != nil {
		return err
	}
	if _, err := fmt.Println(server.URL(console.IsTerminal(os.Stdout))); err != nil {
		return err
	}
	say("open that address in a browser on this machine; Ctrl-C ends it; the runs continue")
	if *open {
		remove, err := openInBrowser(server.Ticket)
		if err != nil {
			say("warning: no browser was opened: " + err.Error())
		}
		defer remove()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Serve(ctx)
}

// listDevices prints the paired devices, with a line for each address from which one was used.
func listDevices(to io.Writer, dir string) error {
	list, err := dashboard.Devices(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err = fmt.Fprintln(to, "No device is paired.")
		return err
	}
	const day = "2006-01-02 15:04"
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tPAIRED AT\tPAIRED\tLAST USED\tFROM")
	for _, d := range list {
		fmt.Fprintf(table, "%s\t%s\t%s", termsafe.Line(d.Name), termsafe.Line(d.Host), d.Paired.Format(day))
		for i, u := range d.Uses {
			if i > 0 {
				fmt.Fprint(table, "\n\t\t")
			}
			fmt.Fprintf(table, "\t%s\t%s", u.At.Format(day), termsafe.Line(u.Address))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

func (l looprun) explain(dir string) (string, error) {
	text, whole, err := l.text(context.Background(), dir, "explain", "--color", "never")
	if err == nil && !whole {
		text += "The rest is left out here; looprun explain " + filepath.Base(dir) + " prints all of it.\n"
	}
	return text, err
}

// diff also tells, before a loop of looprun many is taken, which others change the same files.
func (l looprun) diff(ctx context.Context, dir string, iteration int) (text string, whole bool, err error) {
	text, whole, err = l.text(ctx, dir, "diff", strconv.Itoa(iteration))
	if err != nil {
		return "", false, err
	}
	lines, err := many.Overlaps(ctx, dir)
	if err != nil {
		lines = []string{"looprun cannot tell which other loops change the same files: " + termsafe.Line(err.Error())}
	}
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n" + cmp.Or(text, "It changed nothing.\n")
	}
	return text, whole, nil
}

// mostText is how much of a command's output the page shows, in bytes.
const mostText = 256 << 10

// text returns what a looprun command about one run prints, or as much of it as the page shows,
// up to the end of a line.
func (l looprun) text(ctx context.Context, dir, name string, args ...string) (text string, whole bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := l.Command(ctx, dir, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", false, err
	}
	out, err := io.ReadAll(io.LimitReader(stdout, mostText+1))
	if len(out) > mostText {
		stop() // nobody reads the rest
		_ = cmd.Wait()
		return termsafe.Text(string(out[:bytes.LastIndexByte(out[:mostText], '\n')+1])), false, nil
	}
	if err := cmp.Or(cmd.Wait(), err); err != nil {
		return "", false, errors.New(cmp.Or(program.Message(stderr.Bytes()), err.Error()))
	}
	return termsafe.Text(string(out)), true, nil
}

// order sends an order to a run, as looprun say, pause and stop do.
func (l looprun) order(ctx context.Context, dir string, order core.Order, words string) (string, error) {
	args := []string{"--via", l.Via}
	if order == core.OrderSay {
		args = append([]string{"-"}, args...)
	}
	return l.Run(ctx, dir, strings.NewReader(words), string(order), args...)
}

// openInBrowser passes the browser a file that leads to the address instead of the address
// itself, since other users can read command lines. The file contains a ticket and no token,
// since the commands of runs can read it. Calling remove deletes it, and so does the ticket's
// end.
func openInBrowser(ticket func(done func()) (url string)) (remove func(), err error) {
	f, err := os.CreateTemp(os.Getenv("XDG_RUNTIME_DIR"), "looprun-*.html") // of mode 0600
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.Remove(f.Name()) }
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=utf-8><title>looprun</title><meta http-equiv=refresh content=\"0; url=%s\"><a href=\"%[1]s\">looprun</a>\n", html.EscapeString(ticket(remove)))
	if err := errors.Join(err, f.Close()); err != nil {
		return remove, err
	}
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open"}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.Command(opener[0], append(opener[1:], f.Name())...)
	cmd.SysProcAttr = program.Detached()
	if err := cmd.Start(); err != nil {
		return remove, err
	}
	go func() { _ = cmd.Wait() }()
	return remove, nil
}
