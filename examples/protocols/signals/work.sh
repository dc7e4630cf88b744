#!/bin/sh
# Reports progress; the last iteration makes the promise.
looprun signal progress "step $LOOPRUN_ITERATION of 2"
looprun signal attempt --approach "variant $LOOPRUN_ITERATION" --why-different 'another order of the steps'
looprun signal cost --usd 0.02 --tokens 1500
if [ "$LOOPRUN_ITERATION" = 2 ]; then
  looprun signal done
fi
