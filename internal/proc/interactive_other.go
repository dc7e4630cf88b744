//go:build unix && !linux

package proc

func launchInteractive(req request, _ *terminal) (watched, error) { return launchSession(req) }
