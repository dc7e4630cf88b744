package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inJob, in the environment, makes the test binary a program that says whether its process group
// is orphaned and whether its job has another head, or that starts such a program: first as the
// head of a session, then as the head of a job, as its last word says.
const inJob = "PROC_TEST_IN_JOB"

func init() { otherPrograms[inJob] = startInJob }

func startInJob(value string) int {
	how, rest, more := strings.Cut(value, " ")
	if how == "say" {
		head := JobHead()
		fmt.Println(InOrphanedGroup(), head != 0, head != 0 && head == os.Getppid())
		return 0
	}
	if !more {
		return 1
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), inJob+"="+rest), os.Stdout, os.Stderr
	switch how {
	case "session":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "job":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case "container":
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
	}
	return 0
}

// A job can be continued by whoever is above it in its session, and its head is the process that
// the shell started.
func TestWhoCanContinueAJob(t *testing.T) {
	for how, want := range map[string]string{
		"session say":                    "true false false", // the first process of a terminal
		"session same say":               "true true true",
		"session job say":                "false false false", // started by a shell
		"session job same say":           "false true true",   // by a script that a shell started
		"session job same same say":      "false true false",
		"session job session say":        "true false false",
		"session job same container say": "true false false",
	} {
		out, err := other(t, inJob, how).CombinedOutput()
		if got := strings.TrimSpace(string(out)); strings.Contains(got, "not permitted") {
			t.Logf("%s: %s", how, got)
		} else if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", how, got, err, want)
		}
	}
}
