#!/bin/sh
# Fails in a different way each time, until a person gives guidance.
echo "guidance: ${LOOPRUN_GUIDANCE:-none}"
case $LOOPRUN_GUIDANCE in *'version 2'*) exit 0 ;; esac
looprun signal attempt --approach "approach $LOOPRUN_ITERATION" --outcome 'the handshake fails'
exit 1
