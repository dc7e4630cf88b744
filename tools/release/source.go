package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source describes what is released.
type source struct {
	version string // without v
	commit  string // with -dirty, when files were changed
	time    time.Time
	date    string // time in RFC 3339 and UTC
}

// epoch returns the variable from which programs take the date to write into their output.
func (s source) epoch() string {
	return "SOURCE_DATE_EPOCH=" + strconv.FormatInt(s.time.Unix(), 10)
}

// versionForm is the form of semver.org, without build metadata, which Debian and rpm order
// differently.
var versionForm = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

// sourceOf examines the git repository. Without a repository, version and epoch, in seconds
// since 1970, must be given.
func sourceOf(dir, version, epoch string) source {
	s := source{version: strings.TrimPrefix(version, "v")}
	head, err := git(dir, "log", "-1", "--format=%H %ct")
	if err == nil {
		var seconds string
		s.commit, seconds, _ = strings.Cut(head, " ")
		epoch = cmp.Or(epoch, seconds)
		short := must(git(dir, "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=.dirty"))
		dirty := strings.HasSuffix(short, ".dirty")
		if dirty {
			s.commit += "-dirty"
		}
		if tag, err := git(dir, "describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err == nil && !dirty {
			s.version = cmp.Or(s.version, strings.TrimPrefix(tag, "v"))
		} // else a version below every release that says which it is
		s.version = cmp.Or(s.version, "0.0.0-dev."+must(git(dir, "rev-list", "--count", "HEAD"))+".g"+short)
	} else if version == "" || epoch == "" {
		fail("this is no git repository (%w); give VERSION=1.2.3 and SOURCE_DATE_EPOCH", err)
	}
	if !versionForm.MatchString(s.version) {
		fail("%q is no version; give it as 1.2.3 or 1.2.3-rc.1", s.version)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		fail("SOURCE_DATE_EPOCH is %q; give seconds since 1970", epoch)
	}
	s.time = time.Unix(seconds, 0).UTC()
	s.date = s.time.Format(time.RFC3339)
	return s
}

func git(dir string, args ...string) (string, error) { return tell(dir, nil, "git", args...) }

// tell runs a program and returns its output.
func tell(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
