import type { ConnectionOptions } from "node:tls";
import { Cluster, type RedisOptions as DriverOptions, Redis } from "ioredis";
import { isRefusedDatabase } from "./failure.ts";
import { PipeliningRedis } from "./pipelining_redis.ts";
import type { RedisAddress, RedisEndpoint } from "./redis_url.ts";

/** The driver's options without `replyMapping`, which changes the types of replies. */
type RedisOptions = Omit<DriverOptions, "replyMapping">;

export interface ClientOptions {
  /** How long a command may take, in milliseconds. */
  readonly commandTimeout: number;
  readonly tls: ConnectionOptions;
}

export interface ClientMakers {
  readonly commands: () => Redis | Cluster;
  /** A client of one server. In a cluster, a client of one node. */
  readonly single: () => Redis;
}

/** How long it may take to open a connection, in milliseconds. */
const connectTimeout = 1_000;

/**
 * The delay before the next connection attempt, in milliseconds. Random, so that nodes do not reconnect all at once.
 */
export const backoff = (attempts: number): number => Math.min(25 * 2 ** attempts, 400) + Math.random() * 100;

// Without a connection, commands fail at once: queued commands would outlive their requests. When a connection is lost,
// its commands in flight fail: if they were sent again, a counter could count a request twice.
const failFast = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: backoff,
  connectTimeout,
  maxLoadingRetryTime: 500,
  // A READONLY error means that the server has become a replica. Reconnect, since its address now leads to the new
  // master.
  reconnectOnError: (error: Error) => error.message.includes("READONLY"),
} satisfies RedisOptions;

const optionsOf = (address: RedisAddress, { commandTimeout, tls }: ClientOptions): RedisOptions => ({
  ...failFast,
  commandTimeout,
  socketTimeout: commandTimeout,
  // Do not wait longer for the server to close a connection that timed out, since it is dead.
  disconnectTimeout: 100,
  // `Channels` renews subscriptions. The driver would also renew subscriptions that ended while disconnected.
  autoResubscribe: false,
  // RESP3 logs in with HELLO, which Redis 6.0 refuses if its default user is off.
  protocol: 2,
  connectionName: "accountlink",
  disableClientInfo: true,
  ...(address.username === undefined ? {} : { username: address.username }),
  ...(address.password === undefined ? {} : { password: address.password }),
  ...(address.tls ? { tls } : {}),
});

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
  return {
    commands: () => onlyInItsDatabase(new PipeliningRedis(all)),
    single: () => onlyInItsDatabase(new Redis(all)),
  };
};

/** Disconnects a client whose database the server refuses, since the driver would go on in database 0. */
const onlyInItsDatabase = <Client extends Redis>(client: Client): Client =>
  client.on("error", (error) => {
    if (isRefusedDatabase(error)) client.disconnect(true);
  });

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

/** A client of a sentinel itself, which tries to connect once. */
export const sentinelClient = (
  sentinel: RedisEndpoint,
  { sentinelLogin }: RedisAddress & { kind: "sentinel" },
  { commandTimeout, tls }: ClientOptions,
): Redis =>
  new Redis({
    ...sentinel,
    ...sentinelLogin,
    tls,
    protocol: 2,
    disableClientInfo: true,
    commandTimeout,
    connectTimeout,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  }).on("error", () => {});

const openCluster = (nodes: ReadonlyArray<RedisEndpoint>, redisOptions: RedisOptions): Cluster => {
  const cluster = new Cluster([...nodes], {
    redisOptions,
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    slotsRefreshTimeout: connectTimeout,
    // With a delay, the driver would send commands in flight again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Keeps host names, since certificates are checked against them.
    dnsLookup: (host, callback) => callback(null, host),
  });
  // Opens the connections to all nodes early. Otherwise, the first command for a node would open its connection, and
  // other commands for the node would fail until the connection is open. Only called once the client is ready: before
  // that, the driver would consider a connecting node dead.
  const connectAll = () => {
    for (const node of cluster.nodes()) if (node.status === "wait") node.connect().catch(() => {});
  };
  cluster.on("ready", connectAll);
  // If a command discovered the node, the driver now opens the connection for this command. `connectAll` runs in a
  // microtask, after that, so it skips the connecting node.
  cluster.on("+node", () =>
    queueMicrotask(() => {
      if (cluster.status === "ready") connectAll();
    }),
  );
  return cluster;
};

/** A client of any reachable node. Tries the next node after each failed attempt. */
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
