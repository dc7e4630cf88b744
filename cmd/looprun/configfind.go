package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/xdg"
)

// systemConfig is the file of whoever looks after the machine. Tests have one
// of their own.
var systemConfig = "/etc/looprun/looprun.yaml"

const configName = "looprun.yaml"

// configSource is a file to be read.
type configSource struct {
	name, path    string
	found, system bool
	optional      bool
	own           bool // the user's
	flag          bool // named with --config
}

// configSources are the files that count, highest rank first. The system's is
// always read: what it enforces could be avoided otherwise.
func configSources(flag string) ([]configSource, error) {
	dir, err := currentDir()
	if err != nil {
		return nil, err
	}
	system := configSource{name: systemConfig, path: systemConfig, system: true, optional: true}
	if flag == "none" {
		return []configSource{system}, nil
	}
	var list []configSource
	own := userConfig()
	if flag != "" {
		list = append(list, configSource{name: flag, path: filepath.Join(dir, flag), flag: true})
		if filepath.IsAbs(flag) {
			list[0].path = flag
		}
	} else if file := nearestConfig(dir); file != own {
		list = append(list, configSource{name: seenFrom(dir, file), path: file, found: true, optional: true})
	}
	if own != "" {
		list = append(list, configSource{name: own, path: own, own: true, optional: true})
	}
	return append(list, system), nil
}

// loadConfig reads the files and reports all that is wrong with any of them.
func loadConfig(flag string, keys []configKey) ([]*configFile, error) {
	sources, err := configSources(flag)
	if err != nil {
		return nil, err
	}
	var files []*configFile
	var errs []error
	var problems strictyaml.Problems
	for _, s := range sources {
		f, err := s.read(keys)
		if ps, ok := errors.AsType[strictyaml.Problems](err); ok {
			problems = append(problems, ps...)
		} else if err != nil {
			errs = append(errs, err)
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return files, errors.Join(append(errs, problems.Err())...)
}

// currentDir is where looprun was called.
func currentDir() (string, error) {
	dir, err := os.Getwd()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = &usageError{"the current directory cannot be found: " + errno.Error(), "change to one that is there"}
	}
	return dir, err
}

// nearestConfig is the nearest looprun.yaml upwards to the root of the git
// repository, whoever put it there. Where there is none it is the one that could
// be there: at that root, or in the folder itself.
func nearestConfig(start string) string {
	for dir := start; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, configName)
		git := filepath.Join(dir, ".git")
		if isThere(file) || isThere(git) && !provenance.Planted(git) {
			return file
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(start, configName)
		}
	}
}

// isThere reports whether the name is taken, by whatever.
func isThere(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// userConfig is the user's own file; empty where there is no place for one.
func userConfig() string {
	if dir := xdg.Config(); dir != "" {
		return filepath.Join(dir, configName)
	}
	return ""
}

// seenFrom is the file as messages call it.
func seenFrom(dir, file string) string {
	if rel, err := filepath.Rel(dir, file); err == nil {
		return rel
	}
	return file
}
