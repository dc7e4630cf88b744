// Package workspace says in what state a work tree is, in few bytes: two looks at
// the same files give the same [Fingerprint], and any change gives another.
//
//	tree, err := workspace.Open(dir, stateDir)
//	...
//	now, err := tree.Fingerprint(ctx) // after each iteration
//
// # In a git work tree
//
// Git says what differs from the last commit, and only that is read. The whole
// work tree that the directory belongs to is looked at. Seen are commits, changed,
// staged, deleted, renamed and untracked files, modes, the targets of links,
// submodules and repositories within the repository. Not seen are:
//
//   - ignored files. Where the directory itself is ignored, it is walked as if
//     there were no git.
//   - what only the index knows: `git add` changes nothing in the files.
//   - files that are marked assume-unchanged or skip-worktree, so also those that
//     a sparse checkout leaves out: they count as they were committed.
//   - time stamps, owners and the other bits of a mode.
//
// The user's index is never written and never locked, no prompt is shown, no hook
// and no file system monitor is started, and variables such as GIT_DIR, which a
// hook has in its environment, do not mislead. Filters that the repository is
// configured with (Git LFS) do run, as for every `git status`.
//
// # Elsewhere
//
// Without git, or where there is no repository, every file below the directory is
// looked at, up to [MaxFiles] of them. There are no ignore rules then.
//
// # What is read
//
// A file's content is read when its size, times or identity differ from the last
// look, or when it was changed so shortly before that look that its times cannot
// tell. Files over 64 MiB count by their size, their time of change and the first
// and last MiB; files that cannot be read, by size and time of change. For those
// alone a rewrite with the same content is a change.
//
// Directories and files named .looprun or .git are left out everywhere, and so are the files that
// [Tree.Ignore] names.
package workspace
