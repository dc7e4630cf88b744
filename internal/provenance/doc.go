// Package provenance says whether somebody else could have put a file where it
// was found. Where modes and owners say nothing, as on Windows, it knows of no
// doubt.
package provenance
