/dev/fd/3: line 89: looprun: command not found
