package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// letterPairs holds, for each pair of letters, how much more likely it is in a random text
// than in names that people choose: from 0 to 8 for -2 to 6 bits.
const letterPairs = "" +
	"42114327274021828010345437" +
	"02220257136045147224166626" +
	"03230341281245047231246748" +
	"13310346067254245224245648" +
	"24113236576220434001534248" +
	"13221056088144148223288838" +
	"25350532187231137113255755" +
	"07630568086334058232285838" +
	"33122228786120137211738483" +
	"04540446263535048803052868" +
	"15330424086352346513283848" +
	"15420456085165048522246816" +
	"02440668084325108523268858" +
	"15111205273453148510336857" +
	"33125336374210218022122568" +
	"05340553283146128021255738" +
	"54535888488244863235054558" +
	"05330437084323148211345838" +
	"26240542084344225410164728" +
	"16340451087345138122275627" +
	"22232338187120417110778576" +
	"04340455087445215533574686" +
	"05430561085351147024575588" +
	"13130264188535306530556348" +
	"34352546278310308401563854" +
	"17550575187446258536585443"

// The weight, in bits, of a change between kinds of characters: letter to digit and so on, in
// words of mixed case and in words of one case.
var (
	mixedChanges  = [3][3]int8{{-1, 3, 4}, {-1, 0, 3}, {3, 3, -2}}
	singleChanges = [3][3]int8{{0, 3, 4}, {-1, 0, 4}, {3, 3, -1}}
)

const (
	smallLetter = iota
	capital
	figure
)

// oddity is how unlikely a word is as a name that a person chose.
type oddity struct {
	bits    int  // log2 of how much more likely it is drawn at random
	length  int  // letters and digits
	letters bool // no digits
	single  bool // letters of one case; the first may be a capital
	name    bool // letters of one case, and no digits but at the end
}

// oddityOf examines a word of letters, digits and underscores. All digits count the same.
func oddityOf(w []byte) (o oddity) {
	caps, smalls, digits, changes := 0, 0, 0, 0
	for i, c := range w {
		switch {
		case ascii.Digit(c):
			digits++
			if i > 0 && !ascii.Digit(w[i-1]) {
				changes++
			}
		case c-'A' < 26:
			if i > 0 {
				caps++
			}
		case c != '_':
			smalls++
		}
		if i > 0 && ascii.Digit(w[i-1]) && !ascii.Digit(c) {
			changes++
		}
	}
	o.letters, o.single = digits == 0, caps == 0 || smalls == 0
	table := &mixedChanges
	if o.single {
		table = &singleChanges
	}
	prev, prevKind := byte(0), -1
	for _, c := range w {
		kind := smallLetter
		switch {
		case c == '_':
			prevKind = -1
			continue
		case ascii.Digit(c):
			kind = figure
		case c-'A' < 26:
			kind = capital
		}
		o.length++
		if prevKind >= 0 {
			o.bits += int(table[prevKind][kind])
			if kind != figure && prevKind != figure && (prevKind != smallLetter || kind != capital) && c|0x20 != prev {
				o.bits += int(letterPairs[int(prev-'a')*26+int(c|0x20-'a')]) - '0' - 2
			}
		}
		prev, prevKind = c|0x20, kind
	}
	o.name = o.single && (digits == 0 || changes == 1 && ascii.Digit(w[len(w)-1]))
	return o
}

// random reports whether a word looks random; where an id is expected, less evidence is
// enough.
func (o oddity) random(place bool) bool {
	switch {
	case place && o.length >= 6 && o.name:
		return o.bits > 6 && o.letters || o.bits > 10
	case place && o.length >= 5 && !o.name:
		return o.bits >= -2 && o.length > 5 || o.bits >= 0
	case o.letters && o.single:
		return o.length >= 12 && o.bits >= 12
	case o.length < 10:
		return false
	case o.single && o.length < 16:
		return o.bits >= 4
	case o.length < 20:
		return o.bits >= 1
	}
	return o.bits >= 4
}

// randomSpan finds the part of the word b[s:e] that looks random, without the name in front of
// it (toolu_01zE9V…), and with adjacent pieces set off by a dash. It excludes everything
// before from.
func randomSpan(b []byte, from, s, e int) (int, int, bool) {
	if e-s < 5 {
		return s, e, false
	}
	place := e-s < 20 && afterKey(b, s)
	for i := s; i < e; i++ {
		if b[i] != '_' {
			continue
		}
		if n := i - s; n == 0 || !named(b[s:i]) {
			break
		}
		place = place || idWord(b[s:i], true)
		s = i + 1
	}
	for i := e - 1; i > s && !ascii.Digit(b[i]); i-- {
		if b[i] == '_' && e-i > 3 && named(b[i+1:e]) {
			e = i
		}
	}
	if e-s < 5 || !oddityOf(b[s:e]).random(place) {
		return s, e, false
	}
	for ascii.At(b, e) == '-' {
		n := runOf(b, e+1, wordMask)
		if uuidAt(b, e+1) > 0 || !partOfID(b[e+1:n]) {
			break
		}
		e = n
	}
	for s > from && b[s-1] == '-' {
		n := s - 1
		for n > from && word(b[n-1]) {
			n--
		}
		if !partOfID(b[n : s-1]) {
			break
		}
		s = n
	}
	return s, e, true
}

// named reports whether a piece of a word looks like a name, judging by its letters.
func named(w []byte) bool {
	o := oddityOf(w)
	return o.letters && o.single && o.bits <= 4 || o.letters && o.bits <= -4
}

// partOfID reports whether a piece set off from an id by a dash is part of it.
func partOfID(w []byte) bool {
	if n := digitCount(w); n == len(w) || n > 0 && len(w) >= 6 && hexFrom(w, 0) == len(w) {
		return n < len(w)
	}
	o := oddityOf(w)
	return o.length >= 2 && !o.name && (!o.letters || o.bits > 2)
}

// afterKey reports whether the key in front of s means that an id is at s: "RequestID: ",
// "ref=", `"token": "`.
func afterKey(b []byte, s int) bool {
	i := s
	for i > 0 && (b[i-1] == '"' || b[i-1] == '\'' || b[i-1] == '`' || b[i-1] == ' ' || b[i-1] == '<') && s-i < 3 {
		i--
	}
	if i > 1 && b[i-1] == '>' && b[i-2] == '=' { // :token => "x"
		i--
	} else if i == 0 || b[i-1] != ':' && b[i-1] != '=' {
		return false
	}
	i--
	for i > 0 && (b[i-1] == ' ' || b[i-1] == '"' || b[i-1] == '\'') && s-i < 8 {
		i--
	}
	e := i
	for i > 0 && (letter(b[i-1]) || b[i-1] == '_' || b[i-1] == '-') && e-i < 40 {
		i--
	}
	return idWord(b[i:e], false)
}

// idWord reports whether a key names an id: request_id, TraceId, ref. In front of an
// underscore it is a prefix: call_9Xb2aQ7.
func idWord(key []byte, prefix bool) bool {
	if i := bytes.LastIndexAny(key, "_-"); i >= 0 {
		key = key[i+1:]
	}
	n := len(key)
	if n < 2 || n > 24 {
		return false
	}
	if key[n-2] == 'I' && key[n-1]|0x20 == 'd' && (n == 2 || key[n-3]-'a' < 26) {
		return true
	}
	var low [24]byte
	switch string(ascii.Lowered(&low, key)) {
	case "id", "ref", "token", "trace", "span", "session", "request", "req", "call", "txn":
		return true
	case "uid", "uuid", "guid", "sid", "cid", "rid", "nonce", "requestid", "traceid", "spanid", "sessionid", "correlationid",
		"correlation", "cursor", "salt", "ticket", "jti":
		return !prefix
	case "toolu", "msg", "run", "sess", "tx", "resp", "item", "evt":
		return prefix
	}
	return false
}

// podSpan finds the random end of a Kubernetes pod's name around the word b[s:e], set off by a
// dash: 7d9f8b6c5-x2x4z, or x2x4z after "pod/".
func podSpan(b []byte, from, s, e int) (int, int, bool) {
	if s == 0 || b[s-1] != '-' {
		return s, e, false
	}
	if n := e + 6; e-s >= 6 && e-s <= 10 && ascii.At(b, e) == '-' && n <= len(b) && !word(ascii.At(b, n)) && podPiece(b[e+1:n]) && podPiece(b[s:e]) {
		return s, n, true
	}
	if e-s != 5 || ascii.At(b, e) == '-' || !podPiece(b[s:e]) {
		return s, e, false
	}
	i := s - 1
	for i > from && word(b[i-1]) {
		i--
	}
	if n := s - 1 - i; n >= 6 && n <= 10 && i > from && b[i-1] == '-' && podPiece(b[i:s-1]) {
		return i, e, true
	}
	for i > 0 && (word(b[i-1]) || b[i-1] == '-' || b[i-1] == '.') {
		i--
	}
	if i > 0 && (b[i-1] == '/' || b[i-1] == ' ' || b[i-1] == '"') {
		k := b[:i-1]
		return s, e, bytes.HasSuffix(k, []byte("pod")) || bytes.HasSuffix(k, []byte("pods")) || bytes.HasSuffix(k, []byte("Pod")) || bytes.HasSuffix(k, []byte("pod "))
	}
	return s, e, false
}

// podPiece reports whether a piece consists of the letters that Kubernetes draws from, which
// form no words, or is a hexadecimal id.
func podPiece(w []byte) bool {
	safe, digits := true, 0
	for _, c := range w {
		switch {
		case ascii.Digit(c):
			digits++
		case c-'b' >= 25 || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y':
			safe = false
			if classOf[c]&isHex == 0 {
				return false
			}
		}
	}
	return safe && digits < len(w) || len(w) >= 6 && digits > 0 && digits < len(w) && hexFrom(w, 0) == len(w)
}

// words masks, in dst from an index on, the words without digits that look random. The scanner
// stops only at digits, so it leaves these words to this function.
func words(dst []byte, from int) []byte {
	b := dst[from:]
	for i := 0; i < len(b); {
		if !letter(b[i]) {
			i++
			continue
		}
		s, odd := i, false
		for i < len(b) && (letter(b[i]) || b[i] == '_') {
			odd = odd || i > s && (b[i] == '_' || b[i]-'A' < 26 && b[i-1]-'a' < 26)
			i++
		}
		if before := ascii.At(b, s-1); i-s < 12 && !odd && before != '-' && before != ' ' && before != '"' && before != '\'' && before != '=' && before != ':' {
			continue
		}
		if i-s < 5 || i < len(b) && (ascii.Digit(b[i]) || b[i] >= 0x80) || s > 0 && (word(b[s-1]) || b[s-1] >= 0x80) {
			continue
		}
		s, e, ok := podSpan(b, 0, s, i)
		if !ok {
			s, e, ok = randomSpan(b, 0, s, i)
		}
		if ok {
			b = append(b[:s], append([]byte(maskText[ident]), b[e:]...)...)
			i = s + len(maskText[ident])
		}
	}
	return dst[:from+len(b)]
}
