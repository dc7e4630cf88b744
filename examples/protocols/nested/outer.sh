#!/bin/sh
# A run in a run in a run: the innermost asks, and its question reaches the outermost.
looprun --name middle -- looprun --name inner -- looprun ask 'Which way?' --option left=Left --option right=Right
