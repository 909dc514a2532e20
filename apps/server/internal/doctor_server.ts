/**
 * The doctor looks for the server.
 */
import { get } from "node:http";
import { createServer } from "node:net";
import { Effect } from "effect";
import type { Config } from "../config.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** How long a server may take to answer, in milliseconds. */
const patience = 3_000;

/**
 * Asks the server whether it is ready; without one, whether there could be one.
 *
 * @param running the server of the data folder, null for none; undefined where only its port can tell whether one runs
 */
export const checkServer = (
  config: Config,
  running: { readonly pid: number | null } | null | undefined,
): Effect.Effect<Finding> => {
  const host = config.ACCOUNTLINK_HOST;
  const port = config.ACCOUNTLINK_PORT;
  const url = `http://${reachable(host)}:${port}/readyz`;
  if (running === undefined && port !== 0) {
    return askReadiness(url, "one runs").pipe(Effect.catch(() => checkPort(host, port)));
  }
  if (running === undefined || running === null) return checkPort(host, port);
  const who = running.pid === null ? "a server runs" : `process ${running.pid} runs`;
  if (port === 0) return Effect.succeed(ok("server", `${who}, on a port that is not known`));
  return askReadiness(url, who).pipe(
    Effect.catch(({ message }) =>
      Effect.succeed(
        warn(
          "server",
          `${who}, and does not answer at ${url}: ${message}`,
          "See its log, or set ACCOUNTLINK_HOST and ACCOUNTLINK_PORT as they are for the server",
        ),
      ),
    ),
  );
};

const askReadiness = (url: string, who: string): Effect.Effect<Finding, Error> =>
  Effect.map(statusOf(url), (status) =>
    status === 200
      ? ok("server", `${who} and is ready`)
      : fail("server", `${who} and is not ready: ${url} answers ${status}`, "See its log"),
  );

/** Not by `fetch`, which refuses to ask on a number of ports. */
const statusOf = (url: string): Effect.Effect<number | undefined, Error> =>
  Effect.callback((resume) => {
    const request = get(url, { signal: AbortSignal.timeout(patience) }, (response) => {
      response.resume();
      resume(Effect.succeed(response.statusCode));
    });
    request.once("error", (error) => resume(Effect.fail(error)));
  });

const checkPort = (host: string, port: number): Effect.Effect<Finding> =>
  Effect.callback((resume) => {
    const probe = createServer();
    probe.once("error", ({ message }) => {
      const advice = "Set ACCOUNTLINK_HOST to an address of this machine and ACCOUNTLINK_PORT to a free port";
      resume(Effect.succeed(fail("server", `none runs, and it could not listen: ${message}`, advice)));
    });
    probe.listen({ host, port }, () => {
      probe.close(() =>
        resume(Effect.succeed(ok("server", `none runs, and it could listen on ${host} port ${port}`))),
      );
    });
  });

/** An address to ask at, for one that means all of the machine's. */
const reachable = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
};
