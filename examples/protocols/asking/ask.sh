#!/bin/sh
# Asks three questions, one of each kind, and uses the answers.
database=$(looprun ask 'Which database?' --header Database --id db \
  --option pg='Postgres=One more server to run' --option lite='SQLite=A file' --default lite)
case $? in
0) echo "database: $database" ;;
3) echo "nobody is there, so nothing is chosen" && exit 1 ;;
75) exit 1 ;; # deferred: the run pauses now, and the next iteration asks again
*) exit 2 ;;
esac

if looprun ask 'May the old tables be dropped?' --confirm --safe no --default no >/dev/null; then
  echo 'old tables: dropped'
else
  echo 'old tables: kept'
fi

name=$(looprun ask 'What is the new table called?' --text --default users) || exit 1
echo "table: $name"
