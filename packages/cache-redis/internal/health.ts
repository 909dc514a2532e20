import { Effect, type Scope } from "effect";
import { type Cluster, Redis } from "ioredis";
import type { ConnectionHealth } from "../redis_health.ts";
import { reasonOf } from "./redis_failure.ts";

type Client = Redis | Cluster;

/** Notes when the connection is lost and when it is there again, until the scope closes. */
export const watch = (
  client: Client,
  connection: string,
  health: ConnectionHealth,
): Effect.Effect<void, never, Scope.Scope> => {
  let reason = "closed";
  const onError = (error: unknown) => {
    reason = reasonOf(error);
  };
  const onClose = () => health.noteLost(connection, reason);
  const onReady = () => {
    health.noteAnswering(connection);
    reason = "closed";
  };
  client.on("error", onError);
  return Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => client.on("close", onClose).on("ready", onReady)),
      () => Effect.sync(() => client.off("close", onClose).off("ready", onReady)),
    ),
  );
};

/** Waits until the client is connected, or has failed once; one of a cluster to every node of it. */
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
    const leave = () => {
      for (const event of outcomes) client.off(event, done);
    };
    const done = () => {
      leave();
      resume(Effect.void);
    };
    for (const event of outcomes) client.on(event, done);
    return Effect.sync(leave);
  });

/** Asks every second, so that an outage is found while nobody else asks, and a dead connection is given up. */
export const keepAsking = (
  client: Redis,
  connection: string,
  health: ConnectionHealth,
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.tryPromise({ try: () => client.ping(), catch: reasonOf }).pipe(
    Effect.match({
      onSuccess: () => health.noteAnswering(connection),
      onFailure: (reason) => health.noteLost(connection, reason),
    }),
    Effect.delay("1 second"),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid,
  );
