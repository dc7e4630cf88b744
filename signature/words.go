package signature

// Word lists of the captures, lower case where the text may be in any case.
var (
	severityWords = []string{
		"error", "fatal error", "fatal", "err", "critical", "catastrophic error", "syntax error",
		"internal compiler error", "failure",
	}
	warningWords = []string{
		"warning", "warn", "style", "convention", "refactor", "performance", "portability",
	}
	infoWords = []string{
		"note", "info", "information", "hint", "help", "remark", "message", "debug",
	}
	keyWords = []string{
		"expected", "actual", "received", "got", "want", "wanted", "found", "left", "right", "symbol", "location",
		"required", "reason", "cause", "value", "expecting", "provided", "message", "error", "operator", "code",
		"name", "have", "expression", "evaluated", "stdout", "stderr", "actually", "failuretype", "which is", "to equal", "to be",
	}
	badWords = []string{
		"failed", "fail", "bad", "ko", "nok", "not ok", "broken", "wrong", "mismatch", "unhealthy", "unreachable",
		"degraded", "crashed", "not ready", "incorrect", "down",
	}
	goodWords = []string{
		"ok", "okay", "good", "passed", "pass", "success", "succeeded", "successful", "healthy", "up", "ready",
		"fine", "done", "valid", "reachable", "up to date", "unchanged", "correct",
	}
	statusWords = []string{
		"failed", "segfault", "timeout", "not run", "illegal", "subprocess aborted", "subprocess killed",
		"bad_command", "numerical", "other_fault", "interrupt", "disabled", "sigsegv", "sigabrt", "error",
		"crashloopbackoff", "imagepullbackoff", "errimagepull", "invalidimagename", "errimageneverpull", "runcontainererror", "createcontainererror",
		"createcontainerconfigerror", "containercreating", "podinitializing", "containerstatusunknown", "oomkilled", "evicted", "pending", "unschedulable", "unknown", "init:error",
		"init:crashloopbackoff", "init:imagepullbackoff", "init:errimagepull", "deadlineexceeded", "starterror", "unhealthy", "exited", "restarting",
	}
	kindSuffixes = []string{
		"Error", "Exception", "Failure", "Panic", "Fault", "Interrupt", "Exit", "Warning", "Failed", "Timeout",
		"NotFound", "Violation",
	}
)

// classWords has, for the captures of a closed class, words of which a line that
// matches has at least one.
var classWords = [capEnd][]string{
	capSev: severityWords, capWarn: warningWords, capInfo: infoWords, capKey: keyWords, capBad: badWords, capGood: goodWords,
	capStatus: statusWords, capKind: kindHints, capCount: countHints,
}

// kindHints and countHints are parts of what {kind} and {count} take.
var (
	kindHints  = []string{"error", "exception", "failure", "panic", "fault", "interrupt", "exit", "warning", "failed", "timeout", "notfound", "violation", "errno", "stopiteration", "enoent", "eacces"}
	countHints = []string{"fail", "err", "broken", "problem", "issue", "finding", "violation", "offense", "pass", "succe", "ok", "test", "total", "check", "example", "spec", "run", "case", "scenario", "assertion", "step", "skip", "pending", "todo", "ignored", "warning", "files", "deselected", "cancelled", "omission", "notification", "suite", "hook"}
)
