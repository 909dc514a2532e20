/** Whether Redis answers. */
import { Context, Effect, Metric } from "effect";

/** Whether Redis answers, for those who go on without it and want to say so. */
export class RedisHealth extends Context.Service<
  RedisHealth,
  { readonly isReachable: Effect.Effect<boolean> }
>()("@accountlink/cache-redis/RedisHealth") {}

/** 1 while every connection to Redis answers, else 0. */
export const redisUp = Metric.gauge("accountlink_redis_up", {
  description: "Whether every connection to Redis answers: 1 or 0",
});

/** Operations that failed, by `operation`. */
export const redisFailures = Metric.counter("accountlink_redis_failures_total", {
  description: "Operations that Redis did not answer or refused",
  incremental: true,
});

/** Which connections are lost. An outage is logged once when it begins and once when it is over. */
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

  /** @param reason in a word */
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
    this.#log(Effect.logInfo("Redis is reached again"));
  }
}
