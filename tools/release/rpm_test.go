//go:build dist && linux

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// tryRPM reads the package as rpm does, since few machines that build it have
// rpm; where there is one it has to agree.
func tryRPM(t *testing.T, file string, program []byte) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header, payload, err := readRPM(raw)
	if err != nil {
		t.Fatal(err)
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for tag, want := range map[uint32]string{1000: "looprun", 1001: "9.8.7~rc.6", 1014: "MIT", 1022: arch, 1007: "localhost", 1125: "gzip"} {
		if header[tag] != want {
			t.Errorf("tag %d is %q, want %q", tag, header[tag], want)
		}
	}
	files, err := readCPIO(payload)
	if err != nil {
		t.Fatal(err)
	}
	if got := files["/usr/bin/looprun"]; got.mode != 0o100755 || !bytes.Equal(got.text, program) {
		t.Errorf("the program has mode %o and %d bytes, or is another than that of the archive", got.mode, len(got.text))
	}
	for _, name := range []string{"/usr/share/man/man1/looprun.1.gz", "/usr/share/zsh/site-functions/_looprun", "/usr/share/bash-completion/completions/looprun", "/usr/share/doc/looprun/copyright"} {
		if got := files[name]; got.mode != 0o100644 || len(got.text) == 0 {
			t.Errorf("%s has mode %o and %d bytes", name, got.mode, len(got.text))
		}
	}
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Log("there is no rpm here; the package was read without it")
		return
	}
	if got := output(t, nil, "rpm", "--query", "--info", "--package", file); !strings.Contains(got, "9.8.7~rc.6") {
		t.Error(got)
	}
	if got := output(t, nil, "rpm", "--checksig", file); !strings.Contains(got, "digests OK") {
		t.Error(got)
	}
}

// readRPM reads the strings of the header, and the payload. The format is that
// of rpm.org's manual, version 3 of it: a lead of 96 bytes, a header of
// signatures that is padded to 8 bytes, the header, a compressed cpio archive.
func readRPM(raw []byte) (map[uint32]string, []byte, error) {
	if len(raw) < 96 || !bytes.HasPrefix(raw, []byte{0xed, 0xab, 0xee, 0xdb, 3}) {
		return nil, nil, fmt.Errorf("it has no lead")
	}
	at := 96
	var header map[uint32]string
	for range 2 {
		at = (at + 7) &^ 7
		if len(raw) < at+16 || !bytes.HasPrefix(raw[at:], []byte{0x8e, 0xad, 0xe8, 1}) {
			return nil, nil, fmt.Errorf("there is no header at %d", at)
		}
		entries, size := int(binary.BigEndian.Uint32(raw[at+8:])), int(binary.BigEndian.Uint32(raw[at+12:]))
		index := raw[at+16:]
		store := index[16*entries:]
		header = map[uint32]string{}
		for i := range entries {
			tag, kind, offset := binary.BigEndian.Uint32(index[16*i:]), binary.BigEndian.Uint32(index[16*i+4:]), binary.BigEndian.Uint32(index[16*i+8:])
			if kind == 6 || kind == 9 { // a string, and one in several languages
				text, _, _ := bytes.Cut(store[offset:size], []byte{0})
				header[tag] = string(text)
			}
		}
		at += 16 + 16*entries + size
	}
	z, err := gzip.NewReader(bytes.NewReader(raw[at:]))
	if err != nil {
		return nil, nil, err
	}
	payload, err := io.ReadAll(z)
	return header, payload, err
}

type cpioFile struct {
	mode int64
	text []byte
}

// readCPIO reads an archive in the “new ASCII” format: 6 digits of magic, 13
// hexadecimal fields of 8, the name, the text, each padded to 4 bytes.
func readCPIO(raw []byte) (map[string]cpioFile, error) {
	files := map[string]cpioFile{}
	for at := 0; ; {
		if len(raw) < at+110 || string(raw[at:at+5]) != "07070" {
			return nil, fmt.Errorf("there is no file at %d", at)
		}
		field := func(n int) int {
			v, err := strconv.ParseInt(string(raw[at+6+8*n:at+14+8*n]), 16, 64)
			if err != nil {
				return -1
			}
			return int(v)
		}
		mode, size, length := field(1), field(6), field(11)
		begin := (at + 110 + length + 3) &^ 3
		if size < 0 || length < 1 || len(raw) < begin+size {
			return nil, fmt.Errorf("the file at %d is cut off", at)
		}
		name := strings.TrimPrefix(string(raw[at+110:at+110+length-1]), ".")
		if name == "TRAILER!!!" {
			return files, nil
		}
		files[name] = cpioFile{int64(mode), raw[begin : begin+size]}
		at = (begin + size + 3) &^ 3
	}
}
