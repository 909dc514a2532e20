/** Names the fault of a server's certificate, or of the client's own. */
import { isIP } from "node:net";
import { connect, createSecureContext } from "node:tls";
import { certificateProblem } from "@accountlink/core";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Effect } from "effect";
import { type ClientOptions, sentinelClient } from "./clients.ts";
import { type RedisOptions, RedisUnusable } from "./redis_options.ts";
import { endpointsOf, endpointText, pathOf, type RedisAddress, type RedisEndpoint } from "./redis_url.ts";

const timeout = 1_000;

/** Connects without checks, since a driver reports a refused certificate without its names and dates. */
const problemAt = (endpoint: RedisEndpoint, tls: ClientOptions["tls"]) =>
  Effect.callback<string | null>((resume) => {
    const { host, port } = endpoint;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ ...tls, ...servername, host, port, rejectUnauthorized: false });
    const end = (problem: string | null) => {
      socket.destroy();
      resume(Effect.succeed(problem));
    };
    socket.setTimeout(timeout, () => end(null));
    socket.once("error", () => end(null));
    socket.once("secureConnect", () => {
      if (socket.authorized) return end(null);
      const { authorizationError: error } = socket;
      const code = String(error instanceof Error && "code" in error ? error.code : error);
      const about = { code, host, server: endpointText(endpoint), setting: "NODE_EXTRA_CA_CERTS" };
      end(certificateProblem(about, socket.getPeerCertificate()));
    });
    return Effect.sync(() => socket.destroy());
  });

/** Where the sentinels say that the master is; nowhere if none answers. */
const masterOf = (address: RedisAddress & { kind: "sentinel" }, options: ClientOptions) =>
  Effect.promise(async (): Promise<ReadonlyArray<RedisEndpoint>> => {
    for (const sentinel of address.sentinels) {
      const client = sentinelClient(sentinel, address, options);
      try {
        const found = await client.call("SENTINEL", "get-master-addr-by-name", address.master);
        if (Array.isArray(found)) return [{ host: String(found[0]), port: Number(found[1]) }];
      } catch {
        // The next one is asked.
      } finally {
        client.disconnect();
      }
    }
    return [];
  });

/** Fails if no connection was made because a certificate does not hold, which does not mend itself. */
export const refuseCertificate = Effect.fnUntraced(function* (
  address: RedisAddress,
  options: ClientOptions,
  status: string,
): Effect.fn.Return<void, RedisUnusable> {
  if (!address.tls || status === "ready") return;
  const refuseAny = Effect.fnUntraced(function* (endpoints: ReadonlyArray<RedisEndpoint>) {
    const problems = yield* forEachLimited(endpoints, 8, (endpoint) => problemAt(endpoint, options.tls));
    const reason = problems.find((problem) => problem !== null);
    if (reason !== undefined) return yield* new RedisUnusable({ path: pathOf(address), reason });
  });
  yield* refuseAny(endpointsOf(address));
  if (address.kind === "sentinel") yield* refuseAny(yield* masterOf(address, options));
});

/** What keeps the client's own certificate and key from being used; null if nothing does. */
export const pairProblem = (tls: RedisOptions["tls"]): string | null => {
  try {
    createSecureContext(tls);
    return null;
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    return /mismatch/.test(problem)
      ? "its tls.key does not belong to tls.cert, expected the key of that certificate"
      : `its tls.ca, tls.cert or tls.key cannot be used: ${problem}`;
  }
};
