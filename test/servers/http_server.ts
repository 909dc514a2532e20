/** An HTTP server in place of an external service. The test chooses its answers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Effect, type Scope } from "effect";
import { listenLocally } from "./free_port.ts";

export interface HeardRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface HttpAnswer {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * What the server does with a request. It sends an answer, or calls a function that writes the answer piece by piece.
 * With `cut`, it closes the connection without an answer. With `silent`, it keeps the connection open
 * without an answer.
 */
export type HttpAnswering = HttpAnswer | "cut" | "silent" | ((outgoing: ServerResponse) => void);

export interface HttpTestServer {
  /** The URL of the server, without a trailing slash. */
  readonly url: string;
  /** The requests so far, in order. */
  readonly heard: Array<HeardRequest>;
}

/** Starts listening on a free port, and returns the port. The server and its connections end with the scope. */
export const listenScoped = (server: Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => listenLocally(server)),
    () => Effect.sync(() => server.close().closeAllConnections()),
  );

export const startHttpServer = Effect.fnUntraced(function* (
  answer: (request: HeardRequest) => HttpAnswering | Promise<HttpAnswering>,
): Effect.fn.Return<HttpTestServer, never, Scope.Scope> {
  const heard: Array<HeardRequest> = [];
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://localhost");
    const request = {
      method: incoming.method ?? "",
      path: pathname,
      query: searchParams,
      headers: incoming.headers,
      body: await text(incoming),
    };
    heard.push(request);
    send(outgoing, await answer(request));
  };
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
  const port = yield* listenScoped(server);
  return { url: `http://127.0.0.1:${port}`, heard };
});

const send = (outgoing: ServerResponse, answering: HttpAnswering): void => {
  if (answering === "silent") return;
  if (typeof answering === "function") {
    answering(outgoing);
    return;
  }
  if (answering === "cut") {
    outgoing.socket?.destroy();
    return;
  }
  const { status = 200, headers = {}, body = "" } = answering;
  outgoing.writeHead(status, { "content-type": "application/json", ...headers });
  outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
};
