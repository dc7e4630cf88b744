package ci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/nearest"
)

// Provider is a CI system. The zero value means the same as [Auto].
type Provider string

// The supported providers.
const (
	Auto      Provider = "auto" // the one that the environment names
	GitHub    Provider = "github"
	GitLab    Provider = "gitlab"
	Buildkite Provider = "buildkite"
	Azure     Provider = "azure"
	Generic   Provider = "generic" // CI of which nothing more is known: nothing is written to its log
	Off       Provider = "off"     // no CI, or none that is to be spoken to
)

// Providers returns every value that --ci accepts, in the order in which help lists them.
func Providers() []Provider {
	return []Provider{Auto, GitHub, GitLab, Buildkite, Azure, Generic, Off}
}

// Parse parses the value of --ci. The error for an unknown value suggests the nearest known
// one.
func Parse(text string) (Provider, error) {
	p := Provider(text)
	if slices.Contains(Providers(), p) {
		return p, nil
	}
	return Off, fmt.Errorf("%q is not a CI system; %s", text, nearest.OneOf(p, Providers()))
}

// Detect finds the CI system by the variables that it documents for this purpose. Inside
// another looprun it returns Off: the outer looprun reports to the CI system and treats this
// one's log as command output.
func Detect(getenv func(string) string) Provider {
	switch {
	case getenv("LOOPRUN_RUN_ID") != "":
		return Off
	case isTrue(getenv("GITHUB_ACTIONS")):
		return GitHub
	case isTrue(getenv("GITLAB_CI")):
		return GitLab
	case isTrue(getenv("BUILDKITE")):
		return Buildkite
	case isTrue(getenv("TF_BUILD")):
		return Azure
	case isTrue(getenv("CI")):
		return Generic
	}
	return Off
}

// isTrue reports whether a variable means yes. Some systems set it to True, some to 1, and
// people turn it off with 0 or false.
func isTrue(v string) bool {
	return v != "" && v != "0" && !strings.EqualFold(v, "false")
}
