//go:build unix && !darwin

package proc

// maxRSSUnit is the unit of ru_maxrss in bytes.
const maxRSSUnit = 1024
