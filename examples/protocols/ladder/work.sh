#!/bin/sh
# Fails in another way each time, until a person says what to do.
echo "guidance: ${LOOPRUN_GUIDANCE:-none}"
case $LOOPRUN_GUIDANCE in *'version 2'*) exit 0 ;; esac
looprun signal attempt --approach "approach $LOOPRUN_ITERATION" --outcome 'the handshake fails'
exit 1
