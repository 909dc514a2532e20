/** Checks of the running server, or of its port. */
import { get } from "node:http";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { Effect, Option, Schema } from "effect";
import type { Config } from "../../config/config.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** In milliseconds. */
const requestTimeout = 3_000;

/**
 * Asks the server whether it is ready. Without a server, checks that the port is free.
 *
 * @param running the server that uses the data folder, null for none; undefined if the storage cannot tell
 * @param deployment the deployment's id; null if unknown
 */
export const checkServer = (
  config: Config,
  running: { readonly pid: number | null } | null | undefined,
  deployment: string | null,
): Effect.Effect<Finding> => {
  const { ACCOUNTLINK_HOST: host, ACCOUNTLINK_PORT: port } = config;
  const url = `http://${reachable(host)}:${port}/readyz`;
  const who = whoRuns(running ?? null);
  if (port === 0) {
    return running
      ? Effect.succeed(ok("server", `${who}, on a port that is not known`))
      : checkPort(host, port);
  }
  return ask(url).pipe(
    // If no server uses the folder, whatever answers on the port is another deployment's.
    Effect.map((answer) =>
      running === null ? portTaken(url, answer) : judgeAnswer(url, who, answer, deployment),
    ),
    Effect.catch(({ message }) =>
      running
        ? Effect.succeed(
            warn(
              "server",
              `${who}, and does not answer at ${url}: ${message}`,
              "See its log, or set ACCOUNTLINK_HOST and ACCOUNTLINK_PORT as they are for the server",
            ),
          )
        : checkPort(host, port),
    ),
  );
};

const whoRuns = (running: { readonly pid: number | null } | null): string => {
  if (running === null) return "one runs";
  return running.pid === null ? "a server runs" : `process ${running.pid} runs`;
};

const judgeAnswer = (url: string, who: string, answer: Answer, deployment: string | null): Finding => {
  const isOurs = deployment === null || answer.deployment === deployment;
  if (!isOurs) return portTaken(url, answer);
  return answer.status === 200
    ? ok("server", `${who} and is ready`)
    : fail("server", `${who} and is not ready: ${url} answers ${answer.status}`, "See its log");
};

const portTaken = (url: string, { deployment }: Answer): Finding =>
  fail(
    "server",
    deployment === null
      ? `${url} is answered by something else than a server of accountlink`
      : `${url} is answered by a server of another deployment`,
    "Set ACCOUNTLINK_HOST and ACCOUNTLINK_PORT as they are for the server, or ACCOUNTLINK_PORT to a free port",
  );

/** The response of `/readyz`. */
interface Answer {
  readonly status: number | undefined;
  /** The deployment's id; null for a server of another kind. */
  readonly deployment: string | null;
}

/** Not by `fetch`, which blocks some ports. */
const ask = (url: string): Effect.Effect<Answer, Error> =>
  Effect.callback((resume) => {
    const request = get(url, { signal: AbortSignal.timeout(requestTimeout) }, (response) => {
      const { statusCode } = response;
      const answered = (body: string) =>
        resume(Effect.succeed({ status: statusCode, deployment: deploymentIn(body) }));
      text(response)
        .then(answered)
        .catch((error: Error) => resume(Effect.fail(error)));
    });
    request.once("error", (error) => resume(Effect.fail(error)));
  });

const Named = Schema.fromJsonString(Schema.Struct({ deployment: Schema.String }));

const deploymentIn = (body: string): string | null =>
  Option.getOrNull(Option.map(Schema.decodeUnknownOption(Named)(body), ({ deployment }) => deployment));

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

/** An address to connect to. The wildcard addresses become loopback ones. */
const reachable = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
};
