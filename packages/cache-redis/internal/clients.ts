import type { ConnectionOptions } from "node:tls";
import { Cluster, type RedisOptions as DriverOptions, Redis } from "ioredis";
import type { RedisAddress, RedisEndpoint } from "../redis_url.ts";
import { GatheringRedis } from "./gathering_redis.ts";

/** Without what changes the types of replies. */
type RedisOptions = Omit<DriverOptions, "replyMapping">;

/** What holds for every connection. */
export interface ClientOptions {
  /** How long a command may take, in milliseconds. */
  readonly commandTimeout: number;
  readonly tls: ConnectionOptions;
}

/** How the clients of a deployment are made. */
export interface ClientMakers {
  readonly commands: () => Redis | Cluster;
  /** A client of one server; in a cluster, of one node of it. */
  readonly single: () => Redis;
}

/** How long the network may take for a connection, in milliseconds. */
const connectTimeout = 1_000;

/** How long until the next attempt to connect, in milliseconds. All nodes lose Redis at once, and come back apart. */
export const backoff = (attempts: number): number => Math.min(25 * 2 ** attempts, 400) + Math.random() * 100;

// A command that is sent twice counts twice, and one that waits for a connection answers a request that gave up long
// ago: what cannot be sent now fails, what was under way when the connection broke fails too.
const failFast = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: backoff,
  connectTimeout,
  maxLoadingRetryTime: 500,
  // The server has become a replica, and the address leads to its master by now.
  reconnectOnError: (error: Error) => error.message.includes("READONLY"),
} satisfies RedisOptions;

const optionsOf = (address: RedisAddress, { commandTimeout, tls }: ClientOptions): RedisOptions => ({
  ...failFast,
  commandTimeout,
  socketTimeout: commandTimeout,
  // A connection that is given up is dead, so nobody will close it from the other end.
  disconnectTimeout: 100,
  // Subscriptions are ours to renew: the driver would renew those that were left while it was not connected.
  autoResubscribe: false,
  // The other one logs in with HELLO, which Redis 6.0 refuses to a stranger when its default user is off.
  protocol: 2,
  connectionName: "accountlink",
  disableClientInfo: true,
  ...(address.username === undefined ? {} : { username: address.username }),
  ...(address.password === undefined ? {} : { password: address.password }),
  ...(address.tls ? { tls } : {}),
});

/** How the clients for an address are made. */
export const makersOf = (address: RedisAddress, options: ClientOptions): ClientMakers => {
  const common = optionsOf(address, options);
  if (address.kind === "cluster") {
    return {
      commands: () => openCluster(address.nodes, common),
      single: () => openAnyOf(address.nodes, common),
    };
  }
  const all =
    address.kind === "single"
      ? { ...common, host: address.host, port: address.port, db: address.database }
      : { ...common, ...sentinelOptionsOf(address, options) };
  return { commands: () => new GatheringRedis(all), single: () => new Redis(all) };
};

const sentinelOptionsOf = (
  { sentinels, master, database, sentinelLogin, tls }: RedisAddress & { kind: "sentinel" },
  options: ClientOptions,
): RedisOptions => ({
  sentinels: [...sentinels],
  name: master,
  db: database,
  sentinelCommandTimeout: options.commandTimeout,
  sentinelRetryStrategy: backoff,
  ...(sentinelLogin.username === undefined ? {} : { sentinelUsername: sentinelLogin.username }),
  ...(sentinelLogin.password === undefined ? {} : { sentinelPassword: sentinelLogin.password }),
  ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: options.tls } : {}),
});

const openCluster = (nodes: ReadonlyArray<RedisEndpoint>, redisOptions: RedisOptions): Cluster => {
  const cluster = new Cluster([...nodes], {
    redisOptions,
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    slotsRefreshTimeout: connectTimeout,
    // These two would send again what was under way.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Names are looked up for each connection, so that a certificate is checked against the name.
    dnsLookup: (host, callback) => callback(null, host),
  });
  // Else the first command for a node would open its connection, and those that come meanwhile would fail. While the
  // driver looks around it takes a node that is being connected for one that is down, so that has to be over.
  const connectAll = () => {
    for (const node of cluster.nodes()) if (node.status === "wait") node.connect().catch(() => {});
  };
  cluster.on("ready", connectAll);
  // The command that was told of the node may open the connection itself.
  cluster.on("+node", () =>
    queueMicrotask(() => {
      if (cluster.status === "ready") connectAll();
    }),
  );
  return cluster;
};

/** A client of the first node that can be reached, counted from the one that it had before. */
const openAnyOf = (nodes: ReadonlyArray<RedisEndpoint>, options: RedisOptions): Redis => {
  const client: Redis = new Redis({
    ...options,
    ...nodes[0],
    retryStrategy: (attempts: number) => {
      Object.assign(client.options, nodes[attempts % nodes.length]);
      return backoff(attempts);
    },
  });
  return client;
};
