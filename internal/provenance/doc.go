// Package provenance determines whether somebody else could have put a file where it was
// found. Where modes and owners reveal nothing, as on Windows, it reports no doubt.
package provenance
