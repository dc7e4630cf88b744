//go:build unix && torture

package main

// answerRaces are the rounds of [TestAnswerRace].
const answerRaces = 100
