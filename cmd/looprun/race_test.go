//go:build race

package main

// raceSlack is by how much more the race detector makes of what is allocated: it
// empties pools at random.
const raceSlack = 4
