package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	schema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"

	"github.com/looprun/looprun/fleet"
	"github.com/looprun/looprun/fleet/internal/cli"
)

// postgres is the variable that makes tests use a PostgreSQL server, HOST:PORT, with the
// databases temporal and temporal_visibility of the user temporal.
const postgres = "LOOPRUN_FLEET_DEV_POSTGRES"

// serve runs a server on the loopback interface until the context ends.
func serve(ctx context.Context, o cli.DevOptions, ready func(address string) error) error {
	ports, err := freePorts(o.Port)
	if err != nil {
		return err
	}
	server, err := newServer(o, ports)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("the server cannot start: %w", err)
	}
	return errors.Join(ready(address(ports[0])), server.Stop())
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns ports for the server's four parts. The first is the requested one.
func freePorts(first int) (ports [4]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", address(first))
		if err != nil {
			return ports, fmt.Errorf("port %d cannot be used: %w; --port N takes another, 0 a free one", first, err)
		}
		defer l.Close()
		first = 0
		at, _ := l.Addr().(*net.TCPAddr) // it is one
		ports[i] = at.Port
	}
	return ports, nil
}

func newServer(o cli.DevOptions, ports [4]int) (temporal.Server, error) {
	var c config.Config
	c.Global.Membership.MaxJoinDuration, c.Global.Membership.BroadcastAddress = 30*time.Second, "127.0.0.1"
	c.Persistence.NumHistoryShards = 4
	names := []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}
	c.Services = map[string]config.Service{}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for i, name := range names {
		c.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: ports[i], BindOnIP: "127.0.0.1"}}
		hosts[name] = static.SingleLocalHost(address(ports[i]))
	}
	c.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
		ClusterInformation: map[string]cluster.ClusterInformation{"active": {
			Enabled: true, InitialFailoverVersion: 1, RPCAddress: address(ports[0]), ClusterID: "8c3b1d1e-6d3f-4a40-9a52-7b1fb0a1e5c1",
		}},
	}
	c.DCRedirectionPolicy.Policy = "noop"
	c.Archival.History.State, c.Archival.Visibility.State = "disabled", "disabled"
	c.NamespaceDefaults.Archival.History.State, c.NamespaceDefaults.Archival.Visibility.State = "disabled", "disabled"
	c.PublicClient.HostPort = address(ports[0])
	if err := store(&c, o); err != nil {
		return nil, err
	}
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Stdout: false, Level: "fatal"}))
	return temporal.NewServer(
		temporal.WithConfig(&c), temporal.ForServices(temporal.DefaultServices), temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()), temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 200,
			// Groups take turns within a partition of a queue: one is enough for a machine, and exact.
			dynamicconfig.MatchingEnableFairness.Key():              true,
			dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
			dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,
		}),
	)
}

// store configures where the server stores its data.
func store(c *config.Config, o cli.DevOptions) error {
	if at := os.Getenv(postgres); at != "" {
		database := func(name string) config.DataStore {
			return config.DataStore{SQL: &config.SQL{
				PluginName: "postgres12", DatabaseName: name, ConnectAddr: at, ConnectProtocol: "tcp", User: "temporal", Password: "temporal",
				MaxConns: 20, MaxIdleConns: 20, MaxConnLifetime: time.Hour,
			}}
		}
		c.Persistence.DefaultStore, c.Persistence.VisibilityStore = "default", "visibility"
		c.Persistence.DataStores = map[string]config.DataStore{"default": database("temporal"), "visibility": database("temporal_visibility")}
		return nil
	}
	s := config.SQL{PluginName: sqlite.PluginName, DatabaseName: o.File, ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "1"}}
	if o.File == "" {
		s.DatabaseName, s.ConnectAttributes = strconv.Itoa(rand.Int()), map[string]string{"mode": "memory", "cache": "shared"} //nolint:gosec // a name
	} else if _, err := os.Stat(o.File); errors.Is(err, fs.ErrNotExist) {
		if err := schema.SetupSchema(&s); err != nil {
			return fmt.Errorf("the database cannot be made: %w", err)
		}
	}
	ns, err := schema.NewNamespaceConfig("active", fleet.Namespace, false, fleet.Attributes())
	if err == nil {
		err = schema.CreateNamespaces(&s, ns)
	}
	if err != nil {
		return fmt.Errorf("the database cannot be used: %w", err)
	}
	c.Persistence.DefaultStore, c.Persistence.VisibilityStore = "sqlite", "sqlite"
	c.Persistence.DataStores = map[string]config.DataStore{"sqlite": {SQL: &s}}
	return nil
}
