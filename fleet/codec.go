package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// codec compresses and encrypts what the server stores: commands, outputs, questions and
// answers. The zero value only compresses. What one namespace or loop stores is not read as
// another's.
type codec struct {
	keys      []key // the first one encrypts, each one decrypts
	namespace string
	workflow  string // the loop's; empty: any
}

// key is a key with the id that payloads name it by.
type key struct {
	id string
	cipher.AEAD
}

// The encodings of payloads.
const (
	packed = "binary/looprun-gzip"
	sealed = "binary/looprun-aes-gcm"
	keyID  = "key" // in the metadata
	owner  = "of"  // also there: the workflow
)

// maxPayload is the maximum size of an unpacked payload, in bytes.
const maxPayload = 32 << 20

var _ converter.PayloadCodecWithSerializationContext = (*codec)(nil)

// readKeys reads the keys in a file, one a line: 32 bytes in base64, as written by looprun-fleet
// init.
func readKeys(name string) (keys []key, err error) {
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", name, info.Mode().Perm())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err != nil || len(raw) != 32 {
			return nil, fmt.Errorf("%s:%d is not a key: 32 bytes in base64 are; looprun-fleet init --key-file FILE makes one", name, i+1)
		}
		block, _ := aes.NewCipher(raw) // its length is right
		seal, _ := cipher.NewGCM(block)
		keys = append(keys, key{fmt.Sprintf("%.4x", sha256.Sum256(raw)), seal})
	}
	return keys, nil
}

// bound is what a payload of a workflow is encrypted with besides the key.
func (c *codec) bound(of string) []byte { return []byte(sealed + " " + c.namespace + " " + of) }

// WithSerializationContext implements [converter.PayloadCodecWithSerializationContext].
func (c *codec) WithSerializationContext(at converter.SerializationContext) converter.PayloadCodec {
	own := *c
	switch at := at.(type) {
	case converter.WorkflowSerializationContext:
		own.workflow = at.WorkflowID
	case converter.ActivitySerializationContext:
		own.workflow = at.WorkflowID
	}
	return &own
}

// Encode implements [converter.PayloadCodec].
func (c *codec) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		whole, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(whole) // into memory
		_ = z.Close()
		out[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(packed)}, Data: b.Bytes()}
		if len(c.keys) > 0 {
			k := c.keys[0]
			nonce := make([]byte, k.NonceSize())
			_, _ = rand.Read(nonce)
			out[i].Metadata = map[string][]byte{converter.MetadataEncoding: []byte(sealed), keyID: []byte(k.id), owner: []byte(c.workflow)}
			out[i].Data = k.Seal(nonce, nonce, b.Bytes(), c.bound(c.workflow))
		}
	}
	return out, nil
}

var errNoKey = errors.New("it is encrypted, and this looprun-fleet has no key; give --key-file FILE")

// Decode implements [converter.PayloadCodec]. With keys it accepts only payloads encrypted
// with one of them; otherwise anybody who can write to the server could forge them.
func (c *codec) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out, errs := make([]*commonpb.Payload, len(in)), make([]error, len(in))
	for i, p := range in {
		out[i], errs[i] = c.decode(p)
	}
	return out, errors.Join(errs...)
}

func (c *codec) decode(p *commonpb.Payload) (*commonpb.Payload, error) {
	data := p.GetData()
	encoding := string(p.GetMetadata()[converter.MetadataEncoding])
	switch {
	case len(c.keys) == 0 && encoding == sealed:
		return nil, errNoKey
	case len(c.keys) == 0 && encoding != packed:
		return p, nil
	case len(c.keys) > 0 && encoding != sealed:
		return nil, fmt.Errorf("it is not encrypted (%q), and only data encrypted with the key is accepted", encoding)
	case len(c.keys) > 0:
		id, of := string(p.GetMetadata()[keyID]), string(p.GetMetadata()[owner])
		if c.workflow != "" && of != c.workflow {
			return nil, fmt.Errorf("it comes from %q", of)
		}
		i := slices.IndexFunc(c.keys, func(k key) bool { return k.id == id })
		if i < 0 {
			return nil, fmt.Errorf("it is encrypted with another key (%q; the key file has %q)", id, c.keys[0].id)
		}
		n := c.keys[i].NonceSize()
		if len(data) < n {
			return nil, errors.New("it is too short")
		}
		var err error
		if data, err = c.keys[i].Open(nil, data[:n], data[n:], c.bound(of)); err != nil {
			return nil, errors.New("it was changed, or comes from another namespace")
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
