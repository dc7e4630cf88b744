package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// Server describes how to reach the server.
type Server struct {
	Address   string `default:"127.0.0.1:7233" placeholder:"HOST:PORT" help:"The Temporal server (${default})." env:"LOOPRUN_FLEET_ADDRESS"`
	Namespace string `default:"looprun" placeholder:"NAME" help:"The namespace (${default}). Who may start loops in it runs commands on its workers." env:"LOOPRUN_FLEET_NAMESPACE"`
	Queue     string `default:"looprun" placeholder:"NAME" help:"The queue that loops and workers share (${default})." env:"LOOPRUN_FLEET_QUEUE"`

	TLSCert    string `name:"tls-cert" placeholder:"FILE" help:"This client's certificate, for mutual TLS." env:"LOOPRUN_FLEET_TLS_CERT"`
	TLSKey     string `name:"tls-key" placeholder:"FILE" help:"Its key." env:"LOOPRUN_FLEET_TLS_KEY"`
	TLSCA      string `name:"tls-ca" placeholder:"FILE" help:"The authority that has signed the server's certificate (those of the system)." env:"LOOPRUN_FLEET_TLS_CA"`
	TLSName    string `name:"tls-server-name" placeholder:"NAME" help:"The name in the server's certificate (HOST)." env:"LOOPRUN_FLEET_TLS_SERVER_NAME"`
	APIKeyFile string `name:"api-key-file" placeholder:"FILE" help:"A file with an API key, in place of a certificate." env:"LOOPRUN_FLEET_API_KEY_FILE"`
	KeyFile    string `name:"key-file" placeholder:"FILE" help:"The key that commands, outputs and answers are encrypted with; looprun-fleet init makes one. Needed where the server is on another machine." env:"LOOPRUN_FLEET_KEY_FILE"`
	Verbose    bool   `short:"v" help:"Show what the Temporal client says."`
}

// Local reports whether the server is on this machine.
func (s *Server) Local() bool {
	host, _, err := net.SplitHostPort(s.Address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// codec returns how payloads are stored on the server.
func (s *Server) codec() (c *codec, err error) {
	if c = (&codec{namespace: s.Namespace}); s.KeyFile != "" {
		c.keys, err = readKeys(s.KeyFile)
	}
	return c, err
}

// Decoder answers Temporal's own web page at that origin, which asks for the plain text of what
// the server stores.
func (s *Server) Decoder(origin string) (http.Handler, error) {
	c, err := s.codec()
	decode := converter.NewPayloadCodecHTTPHandler(c)
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != origin || !strings.HasSuffix(r.URL.Path, "/decode") {
			http.Error(to, "this is for "+origin+" alone, to decode", http.StatusForbidden)
			return
		}
		to.Header().Set("Access-Control-Allow-Origin", origin)
		to.Header().Set("Access-Control-Allow-Headers", "content-type, x-namespace")
		to.Header().Set("Access-Control-Allow-Private-Network", "true")
		if r.Method != http.MethodOptions {
			decode.ServeHTTP(to, r)
		}
	}), err
}

// options returns the options of a client, or an error if it may not connect: to another
// machine nothing is sent, or stored there, in plain text.
func (s *Server) options() (client.Options, error) {
	if _, _, err := net.SplitHostPort(s.Address); err != nil {
		return client.Options{}, fmt.Errorf("--address %s is not HOST:PORT: %w", s.Address, err)
	}
	level := slog.LevelError
	if s.Verbose {
		level = slog.LevelInfo
	}
	o := client.Options{
		HostPort: s.Address, Namespace: s.Namespace,
		Logger: sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))),
	}
	c, err := s.codec()
	switch {
	case err != nil:
		return o, err
	case s.KeyFile == "" && !s.Local():
		return o, fmt.Errorf("%s is another machine, and what loops print and are asked would be kept there as plain text; give --key-file FILE (looprun-fleet init --key-file FILE makes a key)", s.Address)
	}
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: o.DataConverter, EncodeCommonAttributes: true,
	})
	mutual, key := s.TLSCert != "" || s.TLSKey != "", s.APIKeyFile != ""
	switch {
	case mutual && key:
		return o, errors.New("--tls-cert and --api-key-file exclude each other; use one of them")
	case !mutual && !key && !s.Local():
		return o, fmt.Errorf("%s is another machine, and you have no credentials; give --tls-cert FILE and --tls-key FILE, or --api-key-file FILE", s.Address)
	case !mutual && !key && s.TLSCA == "":
		return o, nil
	}
	o.ConnectionOptions.TLS = &tls.Config{ServerName: s.TLSName, MinVersion: tls.VersionTLS12}
	if s.TLSCA != "" {
		text, err := os.ReadFile(s.TLSCA)
		if err != nil {
			return o, fmt.Errorf("the authority cannot be read: %w", err)
		}
		o.ConnectionOptions.TLS.RootCAs = x509.NewCertPool()
		if !o.ConnectionOptions.TLS.RootCAs.AppendCertsFromPEM(text) {
			return o, fmt.Errorf("%s has no certificate; it has to be a PEM file", s.TLSCA)
		}
	}
	if mutual {
		cert, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey)
		if err != nil {
			return o, fmt.Errorf("the certificate cannot be used: %w", err)
		}
		o.ConnectionOptions.TLS.Certificates = []tls.Certificate{cert}
	}
	if key {
		text, err := os.ReadFile(s.APIKeyFile)
		if err != nil {
			return o, fmt.Errorf("the API key cannot be read: %w", err)
		}
		if strings.TrimSpace(string(text)) == "" {
			return o, fmt.Errorf("%s is empty; write the API key into it", s.APIKeyFile)
		}
		o.Credentials = client.NewAPIKeyStaticCredentials(strings.TrimSpace(string(text)))
	}
	return o, nil
}

// Dial connects to the server.
func (s *Server) Dial(ctx context.Context) (*Fleet, error) {
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	c, err := client.DialContext(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("the server at %s cannot be reached: %w; looprun-fleet dev starts one on this machine", s.Address, err)
	}
	return &Fleet{c, *s, o.DataConverter}, nil
}

// Fleet is a connection to a server.
type Fleet struct {
	client    client.Client
	server    Server
	converter converter.DataConverter
}

// of returns the converter for what a workflow stores.
func (f *Fleet) of(id string) converter.DataConverter {
	return converter.WithDataConverterSerializationContext(f.converter, converter.WorkflowSerializationContext{WorkflowID: id})
}

// Client returns the underlying connection.
func (f *Fleet) Client() client.Client { return f.client }

// Close closes the connection.
func (f *Fleet) Close() { f.client.Close() }
