// Package socket carries messages between a run and the commands inside it: JSON lines over a
// Unix socket that only the user who started the run can use.
//
// A client sends one JSON object a line, with a "type", and receives one line in reply to
// each, in the same order:
//
//	{"type":"ask", …}
//	{"ok":true,"reply":…}
//	{"ok":false,"error":{"code":"malformed","text":"…"}}
//
// A client that wants its reply must keep the connection open in both directions until it
// arrives: if it closes the connection, or only its sending half, it counts as gone, and
// whatever waits on its behalf ends. Messages that it had already sent are still handled.
//
// # Who may connect
//
// The socket has mode 0600 in a fresh directory with mode 0700. On Linux, macOS and FreeBSD
// the system also reports whose process connected, and processes of other users, including
// root, are rejected. On other systems the directory has to do.
//
// # What a client can do to a run
//
// Nothing: a line that is not a message, one that is too long, a client that dies or does not
// read, too many clients and a handler that panics each cause an error reply if somebody can
// read it, and a sentence in [Options.Trouble]. Memory and time spent on a client are bounded.
package socket
