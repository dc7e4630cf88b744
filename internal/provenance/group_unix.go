//go:build unix

package provenance

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
)

// database is where users and groups stand. What stands elsewhere, in a
// directory service, is not known, and what is not known is not private.
type database struct{ users, groups string }

var accounts = database{users: "/etc/passwd", groups: "/etc/group"}

// private reports whether the group is its owner's own: the user's primary group,
// in which nobody else is, as most systems make one for every user.
func (d database) private(uid, gid uint64) bool {
	var name string
	alone := true
	// name:password:uid:gid:…
	whole := lines(d.users, func(user []string) {
		switch {
		case len(user) < 4 || number(user[3]) != gid:
		case number(user[2]) == uid:
			name = user[0]
		default:
			alone = false
		}
	})
	if !whole || name == "" {
		return false
	}
	found := false
	// name:password:gid:member,member
	whole = lines(d.groups, func(group []string) {
		if len(group) < 4 || number(group[2]) != gid {
			return
		}
		members := strings.FieldsFunc(group[3], func(r rune) bool { return r == ',' })
		found = true
		alone = alone && !slices.ContainsFunc(members, func(m string) bool { return m != name })
	})
	return whole && found && alone
}

// none is the number of no user and no group.
const none = ^uint64(0)

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return none
	}
	return n
}

// lines reads a file of accounts; false where it could not be read to its end.
func lines(file string, each func(fields []string)) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		each(strings.Split(s.Text(), ":"))
	}
	return s.Err() == nil
}
