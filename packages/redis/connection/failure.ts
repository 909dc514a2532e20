/** Runs Redis commands, and reduces their errors to reasons that contain no secrets. */
import { StoreUnavailable } from "@accountlink/core";
import { traced } from "@accountlink/core/telemetry";
import { Context, Effect, Metric } from "effect";
import { ReplyError } from "ioredis";

/** The failure of a command. The message is the reason in one word, such as `timeout`. */
export class RedisFailure extends Error {
  override readonly name = "RedisFailure";
}

const failureCount = Metric.counter("accountlink_redis_failures_total", {
  description: "Operations that Redis did not answer or refused",
  incremental: true,
});

/** Runs a command in a span. Counts failures and maps them to `StoreUnavailable`. */
export const runCommand = <A>(
  operation: string,
  command: () => Promise<A>,
): Effect.Effect<A, StoreUnavailable> =>
  traced(operation)(
    Effect.tryPromise({
      try: command,
      catch: (error) => {
        Metric.withAttributes(failureCount, { operation }).updateUnsafe(1, Context.empty());
        return new StoreUnavailable({ operation, cause: new RedisFailure(reasonOf(error)) });
      },
    }),
  );

const tooManyClients = "too many clients";

/** The text of an error reply; null for any other error. */
export const errorReplyOf = (error: unknown): string | null =>
  error instanceof ReplyError ? (error as Error).message : null;

/** Replies to the first command of a connection, which say nothing of the command. */
const ofConnection: ReadonlySet<string> = new Set(["NOAUTH", "BUSY", tooManyClients]);

/** Whether a server, after the login, refused the database of the URL: it has none of that number, or its user may not. */
export const isRefusedDatabase = (error: unknown): boolean =>
  errorReplyOf(error) !== null &&
  (error as { readonly command?: { readonly name: string } }).command?.name === "select" &&
  !ofConnection.has(reasonOf(error));

/** Says what the user of the URL may not do. Redis names the command, and neither keys nor channels. */
const deniedIn = (reply: string): string => {
  const command = /'([a-z|]+)' (?:sub)?command/.exec(reply)?.[1];
  const denied = command ?? (reply.includes("channel") ? "its channels" : "its keys");
  return `NOPERM, the user may not use ${denied}, expected the rights in docs/operating.md`;
};

/**
 * A network error code (`ECONNREFUSED`), a Redis error code (`OOM`), or `timeout`. Error messages, and the command
 * that the driver attaches, may contain an address, a key or a password, so they are left out.
 */
export const reasonOf = (error: unknown): string => {
  const reply = errorReplyOf(error);
  if (reply?.startsWith("NOPERM")) return deniedIn(reply);
  if (reply?.includes("max number of clients")) return tooManyClients;
  if (reply !== null) return /^[A-Z]+\b/.exec(reply)?.[0] ?? "refused";
  if (!(error instanceof Error)) return "unknown";
  // Without a reachable node, the cluster client wraps the error of the last node that it tried.
  if ("lastNodeError" in error) return reasonOf(error.lastNodeError);
  if ("code" in error && typeof error.code === "string") return error.code;
  return /time(d )?out/i.test(error.message) ? "timeout" : "not connected";
};
