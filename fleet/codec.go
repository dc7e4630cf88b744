package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// codec compresses and encrypts what the server stores: commands, outputs, questions and
// answers. The zero value only compresses.
type codec struct{ seal cipher.AEAD }

// The encodings of payloads.
const (
	packed = "binary/looprun-gzip"
	sealed = "binary/looprun-aes-gcm"
)

// maxPayload is the maximum size of an unpacked payload, in bytes.
const maxPayload = 32 << 20

var _ converter.PayloadCodec = codec{}

// readKey reads the key in a file: 32 bytes in base64, as written by looprun-fleet init.
func readKey(name string) (codec, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return codec{}, fmt.Errorf("the key cannot be read: %w", err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return codec{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return codec{}, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", name, info.Mode().Perm())
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != 32 {
		return codec{}, fmt.Errorf("%s is not a key: 32 bytes in base64 are; looprun-fleet init --key-file FILE makes one", name)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return codec{}, err
	}
	seal, err := cipher.NewGCM(block)
	return codec{seal}, err
}

// newKey returns a new key.
func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it does not fail
	return base64.StdEncoding.EncodeToString(key) + "\n"
}

// Encode implements [converter.PayloadCodec].
func (c codec) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		whole, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(whole); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		encoding, data := packed, b.Bytes()
		if c.seal != nil {
			nonce := make([]byte, c.seal.NonceSize())
			_, _ = rand.Read(nonce)
			encoding, data = sealed, c.seal.Seal(nonce, nonce, data, []byte(sealed))
		}
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: data}
	}
	return out, nil
}

var errNoKey = errors.New("it is encrypted, and this looprun-fleet has no key; give --key-file FILE")

// Decode implements [converter.PayloadCodec]. With a key it accepts only payloads encrypted
// with that key; otherwise anybody who can write to the server could forge them.
func (c codec) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		var err error
		if out[i], err = c.decode(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c codec) decode(p *commonpb.Payload) (*commonpb.Payload, error) {
	data := p.GetData()
	encoding := string(p.GetMetadata()[converter.MetadataEncoding])
	switch {
	case c.seal == nil && encoding == sealed:
		return nil, errNoKey
	case c.seal == nil && encoding != packed:
		return p, nil
	case c.seal != nil && encoding != sealed:
		return nil, fmt.Errorf("it is not encrypted (%q), and only data encrypted with the key is accepted", encoding)
	case c.seal != nil:
		n := c.seal.NonceSize()
		if len(data) < n {
			return nil, errors.New("it is too short")
		}
		var err error
		if data, err = c.seal.Open(nil, data[:n], data[n:], []byte(sealed)); err != nil {
			return nil, errors.New("it is encrypted with another key, or was changed")
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	whole, err := io.ReadAll(io.LimitReader(z, maxPayload+1))
	if err != nil {
		return nil, err
	}
	if len(whole) > maxPayload {
		return nil, fmt.Errorf("it is larger than %d MB", maxPayload>>20)
	}
	out := new(commonpb.Payload)
	return out, proto.Unmarshal(whole, out)
}
