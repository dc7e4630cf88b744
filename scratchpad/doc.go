// Package scratchpad is a run's state on disk: the journal, its recovery, the lock, the output
// files, the page for people and agents, and the verdict. It decides nothing; everything but
// the journal can be rebuilt from it.
//
//	.looprun/
//	  .gitignore           *
//	  20260102-150405-3f9a/
//	    journal.jsonl      one event a line: the one source of truth
//	    detail/7.json      what did not fit into the line of event 7
//	    reserve            disk space for the last record, while the run is open
//	    lock               held while the run lives
//	    output/0001.log    what iteration 1 printed, head and tail
//	    output/0001.check.log  what its check printed
//	    scratchpad.md      for people and agents
//	    result.json        the verdict, once there is one
package scratchpad
