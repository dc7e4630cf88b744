// Package redact masks secrets in what a program prints, before anything else sees
// it: the values of variables such as GITHUB_TOKEN, and what the user's own patterns
// match. What is masked reads "***", whatever its length.
//
//	r, err := redact.New(redact.Options{Environ: os.Environ(), Patterns: patterns})
//	...
//	s := r.Stream(out)
//	s.Write(chunk) // as often as there is something
//	s.Flush()      // at the end
//	r.Text(line)   // or all at once
//
// A stream gives the same as Text, however it is cut into writes.
//
// # Values
//
// A variable is secret when its name ends in _TOKEN, _SECRET, _PASSWORD or _KEY, or
// is TOKEN, SECRET or PASSWORD, in letters of either case. Its value is masked where
// it stands as it is, in base64 (both alphabets, at any place of a longer text), in
// a URL, in JSON and in quotes of the shell. Of a value of several lines, a PEM key
// for instance, each line is masked by itself too; not its BEGIN and END lines, nor
// one that repeats a single character. White space around the value or the line does
// not belong to it.
//
// Left are values and lines of less than 8 bytes, which would be found in ordinary
// words; the values "disabled", "required", "optional" and "undefined"; asterisks
// alone, which somebody else has masked; and a value that is also that of HOME, PWD,
// USER or LOGNAME.
//
// # Patterns
//
// A pattern is a regular expression (RE2) and sees one line at a time, without its
// end, which is "\n" or "\r"; of a line of more than 64 KiB, pieces of 64 KiB. A
// group that is named secret, as in password=(?P<secret>\S+), limits what is masked
// to itself. Patterns see the text as it was, also where a value is masked in it, and
// everything that any of them or a value covers is masked.
//
// # What is not seen
//
// A secret with something in its middle: an escape sequence, a line break of a
// terminal, a null byte between the letters of UTF-16. A secret in another writing:
// upper case, reversed, hexadecimal (also as xxd and od print it), octal, base32,
// base64 with line breaks or twice, quoted-printable, with entities of HTML or XML,
// compressed, encrypted. A part of it: cut off, or split over two fields or lines. In
// base64 the characters at both ends that stem partly from the text beside the secret
// stay. A pattern can be given for a writing that a command is known to print.
package redact
