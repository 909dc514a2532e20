import { Context, Effect, Metric, type Scope } from "effect";
import { type Cluster, Redis } from "ioredis";
import { reasonOf } from "./failure.ts";

const redisUp = Metric.gauge("accountlink_redis_up", {
  description: "Whether every connection to Redis answers: 1 or 0",
});

/** Tracks lost connections. Logs the start and the end of an outage once. */
export class ConnectionHealth {
  readonly #context: Context.Context<never>;
  readonly #log: (line: Effect.Effect<void>) => unknown;
  readonly #lost = new Set<string>();

  constructor(context: Context.Context<never>) {
    this.#context = context;
    this.#log = Effect.runForkWith(context);
    redisUp.updateUnsafe(1, context);
  }

  get isReachable(): boolean {
    return this.#lost.size === 0;
  }

  noteLost(connection: string, reason: string): void {
    const isFirst = this.isReachable;
    this.#lost.add(connection);
    if (!isFirst) return;
    redisUp.updateUnsafe(0, this.#context);
    this.#log(Effect.annotateLogs(Effect.logWarning("Redis cannot be reached"), { connection, reason }));
  }

  noteAnswering(connection: string): void {
    if (!this.#lost.delete(connection) || !this.isReachable) return;
    redisUp.updateUnsafe(1, this.#context);
    this.#log(Effect.logInfo("Redis is reachable again"));
  }
}

type Client = Redis | Cluster;

/** Rejects if a connection must not be used. */
export type Check = (client: Client) => Promise<void>;

/** Until the scope closes, notes in `health` when the client loses its connection and when it is ready again. */
export const watch = (
  client: Client,
  connection: string,
  health: ConnectionHealth,
  check: Check,
): Effect.Effect<void, never, Scope.Scope> => {
  let reason = "closed";
  const onError = (error: unknown) => {
    reason = reasonOf(error);
  };
  const onClose = () => health.noteLost(connection, reason);
  const onReady = () => {
    reason = "closed";
    check(client)
      .then(() => health.noteAnswering(connection))
      .catch(onError);
  };
  client.on("error", onError);
  return Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => client.on("close", onClose).on("ready", onReady)),
      () => Effect.sync(() => client.off("close", onClose).off("ready", onReady)),
    ),
  );
};

/** Sends a ping every second, so that an outage is noticed and a dead connection is closed even without traffic. */
export const keepPinging = (
  client: Redis,
  connection: string,
  health: ConnectionHealth,
  check: Check,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.tryPromise({ try: () => client.ping().then(() => check(client)), catch: reasonOf }).pipe(
    Effect.match({
      onSuccess: () => health.noteAnswering(connection),
      onFailure: (reason) => health.noteLost(connection, reason),
    }),
    Effect.delay("1 second"),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid,
  );

/**
 * Drops the connection to a replica, whose answers may be stale, and connects again: the address may lead to the new
 * primary by now.
 */
export const refuseReplica: Check = async (client) => {
  // A user may lack the right to ask.
  const info = await client.info("replication").catch(() => "");
  if (!info.includes("role:slave")) return;
  client.disconnect(true);
  throw Object.assign(new Error("The server is a replica"), { code: "READONLY" });
};

/** Waits for the first connection or failure. In a cluster, waits for every node. */
export const firstOutcome = (client: Client): Effect.Effect<void> =>
  client instanceof Redis
    ? outcomeOf(client)
    : Effect.andThen(
        outcomeOf(client),
        Effect.suspend(() =>
          Effect.forEach(client.nodes(), outcomeOf, { concurrency: "unbounded", discard: true }),
        ),
      );

const outcomes = ["ready", "error", "close"];

const outcomeOf = (client: Client): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (client.status === "ready") return resume(Effect.void);
    const removeListeners = () => {
      for (const event of outcomes) client.off(event, done);
    };
    const done = () => {
      removeListeners();
      resume(Effect.void);
    };
    for (const event of outcomes) client.on(event, done);
    return Effect.sync(removeListeners);
  });
