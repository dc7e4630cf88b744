// Package redact masks secrets in a program's output, before anything else sees it: the values
// of variables such as GITHUB_TOKEN, and matches of the user's own patterns. A masked secret
// becomes "***", whatever its length.
//
//	r, err := redact.New(redact.Options{Environ: os.Environ(), Patterns: patterns})
//	...
//	s := r.Stream(out)
//	s.Write(chunk) // as often as there is something
//	s.Flush()      // at the end
//	r.Text(line)   // or all at once
//
// A stream gives the same result as Text, however it is split into writes.
//
// # Values
//
// A variable is secret if its name ends in _TOKEN, _SECRET, _PASSWORD or _KEY, or is TOKEN,
// SECRET or PASSWORD, in either case. Its value is masked as it is, in base64 (both alphabets,
// anywhere in a longer text), in a URL, in JSON and in shell quotes. In a value of several
// lines, such as a PEM key, each line is also masked by itself, except its BEGIN and END lines
// and lines that repeat a single character. White space around the value or the line is not
// part of it.
//
// Not masked are values and lines of less than 8 bytes, which would be found in ordinary
// words; the values "disabled", "required", "optional" and "undefined"; asterisks alone, which
// somebody else has masked; and a value that is also that of HOME, PWD, USER or LOGNAME.
//
// # Patterns
//
// A pattern is a regular expression (RE2) and sees one line at a time, without its end, which
// is "\n" or "\r"; it sees a line of more than 64 KiB in pieces of 64 KiB. If a group is named
// secret, as in password=(?P<secret>\S+), only that group is masked. Patterns see the original
// text, even where a value in it is masked, and everything covered by any pattern or value is
// masked.
//
// # What is not seen
//
// A secret with something in its middle: an escape sequence, a line break of a terminal, a
// null byte between the letters of UTF-16. A secret in another form: upper case, reversed,
// hexadecimal (also as xxd and od print it), octal, base32, base64 with line breaks or twice,
// quoted-printable, with entities of HTML or XML, compressed, encrypted. A part of it: cut
// off, or split over two fields or lines. In base64 the characters at both ends that partly
// encode the text around the secret stay. For a form that a command is known to print, a
// pattern can be given.
package redact
