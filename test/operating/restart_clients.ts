/** Clients that keep a connection each, and notice every request that is not answered as it should be. */
import { once } from "node:events";
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "../support/http.ts";
import { chatUsers } from "../support/world.ts";

/** What clients have seen. */
export interface ClientReport {
  readonly reads: number;
  readonly writes: number;
  /** Each request without its answer, as `12.3 s PATCH: ECONNRESET`. */
  readonly failures: ReadonlyArray<string>;
}

/** Clients that run until they are stopped. */
export interface Clients {
  /** What they have seen so far. */
  readonly report: ClientReport;
  /** Stops them after their present request. */
  readonly stop: () => Promise<ClientReport>;
  /** Resolves when all of them have been refused a connection; only where `untilRefused` was chosen. */
  readonly refused: Promise<ClientReport>;
}

/** What clients ask, and how. */
export interface ClientOptions {
  readonly url: string;
  readonly key: string;
  readonly count: number;
  /** A connection that is refused ends a client, and is no failure. */
  readonly untilRefused?: boolean;
  /** Whether clients keep their connection for the next request; they do when left out. */
  readonly keepAlive?: boolean;
}

/** Starts clients, each on its own chat user. Every other request is a PATCH, which the next GET has to see. */
export const startClients = (options: ClientOptions): Clients => {
  const { count, untilRefused = false, keepAlive = true } = options;
  const started = performance.now();
  const stopped = new AbortController();
  const report = { reads: 0, writes: 0, failures: [] as Array<string> };

  // Half of those that keep a connection pause shortly; the others pause for up to 4 seconds, until the connection is
  // about to be dropped as idle.
  const run = async (chatId: string, index: number) => {
    const isBusy = keepAlive && index % 2 === 0;
    const connection = makeConnection(options);
    let isWritten = true;
    for (let turn = 0; !stopped.signal.aborted; turn++) {
      const gameId = String(((turn >> 1) % 9) + 1);
      const method = turn % 2 === 0 ? "PATCH" : "GET";
      const problem: string | null = await (method === "PATCH"
        ? connection.ask("PATCH", "/v2/game", gameId, { chatId, gameId })
        : connection.ask("GET", `/v2/chat?chatId=${chatId}`, isWritten ? gameId : null));
      if (method === "PATCH") isWritten = problem === null;
      if (problem === "ECONNREFUSED" && untilRefused) break;
      if (method === "PATCH") report.writes++;
      else report.reads++;
      if (problem !== null) {
        report.failures.push(
          `${((performance.now() - started) / 1_000).toFixed(1)} s ${method}${keepAlive ? "" : " on a new connection"}: ${problem}`,
        );
      }
      await sleep(isBusy ? 100 * Math.random() : 2 ** (Math.random() * 12), null, {
        signal: stopped.signal,
      }).catch(() => null);
    }
    connection.close();
  };
  const ended = Promise.all(chatUsers.slice(0, count).map(({ id }, index) => run(id, index))).then(
    () => report,
  );
  return {
    report,
    refused: ended,
    stop: () => {
      stopped.abort();
      return ended;
    },
  };
};

/** What came of a request: the status and the body, or why there is neither. */
export type Outcome =
  | { readonly status: number | undefined; readonly body: Json; readonly problem: null }
  | { readonly problem: string };

/** One connection at a time, kept alive, on which nothing is tried again. */
export const makeConnection = ({
  url,
  key,
  keepAlive = true,
}: Pick<ClientOptions, "url" | "key" | "keepAlive">) => {
  const isSecure = url.startsWith("https:");
  const agent = new (isSecure ? SecureAgent : PlainAgent)({ keepAlive, maxSockets: 1 });
  const request = isSecure ? secureRequest : plainRequest;

  const send = async (method: string, path: string, body?: object, named = {}): Promise<Outcome> => {
    const headers = { authorization: `Bearer ${key}`, ...named };
    const payload = body === undefined ? null : JSON.stringify(body);
    const outgoing = request(new URL(path, url), {
      agent,
      method,
      // The certificate of a test vouches for itself.
      rejectUnauthorized: false,
      headers:
        payload === null
          ? headers
          : { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(payload) },
    });
    try {
      outgoing.end(payload);
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      return { status: incoming.statusCode, body: (await json(incoming)) as Json, problem: null };
    } catch (error) {
      return { problem: (error as NodeJS.ErrnoException).code ?? String(error) };
    }
  };

  /** Gives what is wrong, or null when the answer is of this game user; of any or none, where it is null. */
  const ask = async (method: string, path: string, gameId: string | null, asked?: object) => {
    const outcome = await send(method, path, asked);
    if (outcome.problem !== null) return outcome.problem;
    const { status, body } = outcome;
    if (status === 404 && gameId === null) return null;
    if (status !== 200) return `${status} ${JSON.stringify(body)}`;
    const found: unknown = body.data?.gameId;
    return gameId === null || found === gameId ? null : `found ${String(found)}, expected ${gameId}`;
  };

  return { send, ask, close: () => agent.destroy() };
};
