//go:build unix

package provenance

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
)

// database holds the files of users and groups. Accounts kept elsewhere, in a directory
// service, are unknown, and an unknown group does not count as private.
type database struct{ users, groups string }

var accounts = database{users: "/etc/passwd", groups: "/etc/group"}

// private reports whether the group is its owner's own: the user's primary group with no other
// members, as most systems create one for every user.
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

// none is a number that no user and no group has.
const none = ^uint64(0)

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return none
	}
	return n
}

// lines reads a file of accounts; it returns false if the file could not be read to its end.
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
