//go:build unix && !torture

package main

// answerRaces are the rounds of [TestAnswerRace]; the long form has more.
const answerRaces = 3
