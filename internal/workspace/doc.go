// Package workspace summarizes the state of a work tree in a few bytes: examining the same
// files twice gives the same [Fingerprint], and any change gives another.
//
//	tree, err := workspace.Open(dir, stateDir)
//	...
//	now, err := tree.Fingerprint(ctx) // after each iteration
//
// # In a git work tree
//
// Git reports what differs from the last commit, and only that is read. The fingerprint covers
// the whole work tree that the directory belongs to: commits, changed, staged, deleted,
// renamed and untracked files, modes, the targets of links, submodules and nested
// repositories. It does not cover:
//
//   - ignored files. If the directory itself is ignored, it is walked as if
//     there were no git.
//   - changes to the index alone: `git add` changes nothing in the files.
//   - files that are marked assume-unchanged or skip-worktree, including those that
//     a sparse checkout leaves out: they count as they were committed.
//   - time stamps, owners and the other bits of a mode.
//
// The user's index is never written or locked, no prompt is shown, no hook and no file system
// monitor is started, and variables such as GIT_DIR, which are set inside a hook, have no
// effect. Filters that the repository is configured with (Git LFS) do run, as for every `git
// status`.
//
// # Elsewhere
//
// Without git, or outside of a repository, every file below the directory is examined, up to
// [MaxFiles] of them. There are no ignore rules then.
//
// # What is read
//
// A file's content is read if its size, times or identity differ from the last examination, or
// if it was changed so shortly before that examination that its times are not conclusive.
// Files over 64 MiB count by their size, their time of change and the first and last MiB;
// unreadable files count by size and time of change. Only for those is a rewrite with the same
// content a change.
//
// Directories and files named .looprun or .git are always skipped, and so are the files that
// [Tree.Ignore] names.
package workspace
