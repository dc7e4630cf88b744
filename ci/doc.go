// Package ci integrates a run with the CI system that it runs in: a log section for each
// iteration, an annotation with the verdict, the job's summary and its outputs. It also keeps
// the command's output from issuing commands to the CI system: output is data, and a log line
// such as
//
//	::set-output name=status::done
//
// must not set anything just because a test, a dependency or a pull request printed it.
//
// The means depend on the CI system:
//
//	GitHub     the output is fenced between ::stop-commands::TOKEN and ::TOKEN::,
//	           and ##[, which the log viewer acts on all the same, becomes ## [
//	GitLab     section_start: and section_end: become section_start : and so on
//	Azure      ##vso[ and ##[ become ##vso [ and ## [
//
// Everything else passes byte for byte. Buildkite's log takes no commands: a line that begins
// with --- or +++ only opens a group, as it does without looprun.
//
// This is no sandbox: the command runs as the same user as looprun and, like every step of a
// job, can write to files such as GITHUB_OUTPUT itself.
package ci
