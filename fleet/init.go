package fleet

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Attributes returns the search attributes that a namespace needs.
func Attributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		AttrStatus: enumspb.INDEXED_VALUE_TYPE_KEYWORD, AttrName: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		AttrGroup: enumspb.INDEXED_VALUE_TYPE_KEYWORD, AttrQuestion: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		AttrIteration: enumspb.INDEXED_VALUE_TYPE_INT, AttrCost: enumspb.INDEXED_VALUE_TYPE_DOUBLE,
	}
}

// MakeKey writes a new key to a file that must not exist.
func MakeKey(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("the key cannot be written: %w", err)
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it does not fail
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	return errors.Join(err, f.Close())
}

// Init creates the namespace and its search attributes, if they are missing, and returns when
// they can be used. retention is how long the server keeps loops that have ended.
func (f *Fleet) Init(ctx context.Context, retention time.Duration) error {
	_, err := f.client.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: f.server.Namespace, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	if err != nil && !is[*serviceerror.NamespaceAlreadyExists](err) {
		return fmt.Errorf("the namespace cannot be made: %w; on Temporal Cloud make it there, with the attributes of docs/more-than-one-machine.md", err)
	}
	for {
		err := f.attributes(ctx)
		if err == nil {
			return nil
		}
		select { // a new namespace is not known everywhere at once
		case <-ctx.Done():
			return fmt.Errorf("the search attributes cannot be made: %w", err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func (f *Fleet) attributes(ctx context.Context) error {
	has, err := f.client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: f.server.Namespace})
	if err != nil {
		return err
	}
	missing := Attributes()
	for name := range has.GetCustomAttributes() {
		delete(missing, name)
	}
	if len(missing) > 0 {
		if _, err = f.client.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: f.server.Namespace, SearchAttributes: missing}); err != nil {
			return err
		}
	}
	return f.List(ctx, Filter{Asking: true, Limit: 1}, func(Entry) error { return nil })
}
