package user

import (
	"cmp"
	"os"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/tty"
)

func (o Options) getenv(name string) string {
	if o.Getenv != nil {
		return o.Getenv(name)
	}
	return os.Getenv(name)
}

// plain reports whether the question is asked line by line.
func (o Options) plain() bool {
	return o.Plain || o.getenv("TERM") == "dumb" || !tty.Draws
}

// Available returns nil if a person can be asked now, or else a [core.ErrNoAnswer] with the
// reason. A person can be asked if non-interactive mode is off, this is not CI, the terminal
// can be opened, and the process is in its foreground group.
func Available(o Options) error {
	if o.NonInteractive {
		return unavailable(cmp.Or(o.Why, "--non-interactive"))
	}
	if why := inCI(o.CI, o.getenv); why != "" {
		return unavailable(why)
	}
	t, err := tty.Open(cmp.Or(o.Tty, tty.Path))
	if err != nil {
		return unavailable("there is no terminal")
	}
	defer t.Close()
	if !t.Foreground() {
		return unavailable("it runs in the background")
	}
	return nil
}

func unavailable(why string) error { return &Unavailable{why} }

// Unavailable is a [core.ErrNoAnswer] with the reason why no person can be asked.
type Unavailable struct{ Why string }

func (u *Unavailable) Error() string { return u.Why + ": " + core.ErrNoAnswer.Error() }

// Unwrap returns [core.ErrNoAnswer].
func (u *Unavailable) Unwrap() error { return core.ErrNoAnswer }

// ciVariables are set by CI systems in the environment of every job.
var ciVariables = []string{
	"CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TRAVIS",
	"JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD", "APPVEYOR", "DRONE", "BITBUCKET_BUILD_NUMBER",
	"CODEBUILD_BUILD_ID", "WOODPECKER_CI", "CIRRUS_CI",
}

// inCI returns the evidence that this is CI; empty if it is not.
func inCI(mode string, getenv func(string) string) string {
	switch mode {
	case "off":
		return ""
	case "", "auto":
	default:
		return "this is CI (" + mode + ")"
	}
	for _, name := range ciVariables {
		switch v := getenv(name); v {
		case "", "0", "false", "False", "FALSE":
		default:
			return "this is CI (" + name + "=" + v + ")"
		}
	}
	return ""
}
