//go:build !race

package main

const raceSlack = 1
