/* The floor: start a program so many times, wait for each, do nothing else. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (long left = strtol(argv[1], NULL, 10); left > 0; left--) {
		pid_t pid;
		if (posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
			return 1;
		while (waitpid(pid, NULL, 0) < 0)
			if (errno != EINTR)
				return 1;
	}
	return 0;
}
