// Package ci speaks to the CI system that a run happens in: a section of the log
// for each iteration, an annotation with the verdict, the job's summary and its
// outputs. It also keeps the command's output from speaking to it: what a
// command prints is data, and a log line such as
//
//	::set-output name=status::done
//
// that a test, a dependency or a pull request made it print must not set
// anything.
//
// How this is done depends on what the CI system offers:
//
//	GitHub     the output stands between ::stop-commands::TOKEN and ::TOKEN::,
//	           and ##[, which the log viewer acts on all the same, becomes ## [
//	GitLab     section_start: and section_end: become section_start : and so on
//	Azure      ##vso[ and ##[ become ##vso [ and ## [
//	Buildkite  a line that begins with ---, +++, ~~~ or ^^^ begins with a blank,
//	           and ESC _ loses its ESC
//
// Everything else passes byte for byte. This is no sandbox: the command runs as
// the same user as looprun and can write to files such as GITHUB_OUTPUT itself,
// as every step of a job can.
package ci
