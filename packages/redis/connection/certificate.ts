/** Says what is wrong with the certificate of a server, or with the client's own. */
import { isIP } from "node:net";
import { connect, createSecureContext } from "node:tls";
import { certificateProblem } from "@accountlink/core";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { Effect } from "effect";
import type { ClientOptions } from "./clients.ts";
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

/** Fails if no connection was made because a certificate does not hold, which does not mend itself. */
export const refuseCertificate = (
  address: RedisAddress,
  { tls }: ClientOptions,
  status: string,
): Effect.Effect<void, RedisUnusable> =>
  !address.tls || status === "ready"
    ? Effect.void
    : forEachLimited(endpointsOf(address), (endpoint) => problemAt(endpoint, tls), { concurrency: 8 }).pipe(
        Effect.flatMap((problems) => {
          const reason = problems.find((problem) => problem !== null);
          return reason === undefined ? Effect.void : new RedisUnusable({ path: pathOf(address), reason });
        }),
      );

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
