/** How Redis is reached, and why it cannot be. The types of this module need no `ioredis`, which is optional for others. */
import type { SecureContextOptions } from "node:tls";
import { Data, type Duration, type Redacted } from "effect";
import { forms } from "./redis_url.ts";

export interface RedisOptions {
  /** A URL in one of the forms that the message of `InvalidRedisUrl` lists. */
  readonly url: Redacted.Redacted;
  /**
   * Prefix of every key and channel; `accountlink:` by default. The identity of a Postgres database is appended, so
   * several databases can share one Redis. A copy of a Postgres server's files has the same identity, so the copy needs
   * another prefix. Another Redis database number is not enough, because all databases of a Redis share channels.
   */
  readonly prefix?: string;
  /**
   * How long a command may take; 500 milliseconds by default. A command that takes longer fails, and a connection that
   * sent no reply for that long is replaced.
   */
  readonly commandTimeout?: Duration.Input;
  /**
   * For `rediss` URLs: the certificate authority of the server's certificate, and the client's own certificate and key.
   */
  readonly tls?: Pick<SecureContextOptions, "ca" | "cert" | "key">;
}

/**
 * The URL has none of the accepted forms. The message does not repeat the URL, since it may contain a password.
 *
 * @example
 * ```ts
 * import { CacheRedis } from "@accountlink/redis";
 * import { Effect, Layer, Redacted } from "effect";
 *
 * const cache = CacheRedis.layer({ url: Redacted.make("127.0.0.1") });
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(cache))));
 * error instanceof CacheRedis.InvalidRedisUrl; // true
 * ```
 */
export class InvalidRedisUrl extends Data.TaggedError("InvalidRedisUrl")<{}> {
  override readonly message = `Cannot read the Redis URL, expected one of: ${forms.join(" ")}`;
}

/**
 * The server refuses to select the database of the URL: it has no database of that number, or its user may not select one.
 *
 * @example
 * ```ts
 * import { CacheRedis } from "@accountlink/redis";
 *
 * new CacheRedis.RedisDatabaseRefused({ database: 99 }).message; // "Cannot use database 99 of Redis: the server refuses it"
 * ```
 */
export class RedisDatabaseRefused extends Data.TaggedError("RedisDatabaseRefused")<{
  readonly database: number;
}> {
  override readonly message = `Cannot use database ${this.database} of Redis: the server refuses it`;
}

/** Redis is unreachable, refuses the login, or has a certificate that does not hold. @internal */
export class RedisUnusable extends Data.TaggedError("RedisUnusable")<{
  readonly path: string;
  /** One word, such as `ECONNREFUSED`, `WRONGPASS` or `timeout`; or the fault of a certificate. */
  readonly reason: string;
}> {
  override readonly message = `Cannot use Redis at "${this.path}": ${this.reason}`;
}
