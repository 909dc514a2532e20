import { Effect, type Scope } from "effect";
import { type Cluster, Redis } from "ioredis";
import { reasonOf } from "./redis_failure.ts";

type Client = Redis | Cluster;

/** Logs when the connection is lost and when it is there again, once each, until the scope closes. */
export const watch = (client: Client, connection: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const log = Effect.runForkWith(yield* Effect.context());
    let isLost = false;
    let reason = "closed";
    const onError = (error: unknown) => {
      reason = reasonOf(error);
    };
    const onClose = () => {
      if (isLost) return;
      isLost = true;
      log(Effect.annotateLogs(Effect.logWarning("Redis cannot be reached"), { connection, reason }));
    };
    const onReady = () => {
      if (isLost) log(Effect.annotateLogs(Effect.logInfo("Redis is reached again"), { connection }));
      isLost = false;
      reason = "closed";
    };
    client.on("error", onError);
    yield* Effect.acquireRelease(
      Effect.sync(() => client.on("close", onClose).on("ready", onReady)),
      () => Effect.sync(() => client.off("close", onClose).off("ready", onReady)),
    );
  });

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

/** Asks every second, so that a connection that is dead is found while nobody else asks. */
export const keepAsking = (client: Redis): Effect.Effect<void, never, Scope.Scope> =>
  Effect.promise(() => client.ping().catch(() => "dead")).pipe(
    Effect.delay("1 second"),
    Effect.forever,
    Effect.forkScoped,
    Effect.asVoid,
  );
