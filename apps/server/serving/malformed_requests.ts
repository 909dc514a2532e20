/**
 * Answers malformed HTTP requests with an error in the response format of the requested path, with a request ID, and
 * includes these requests in the metrics and the log.
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { PublicError } from "@accountlink/core";
import { InvalidBody, MalformedRequest } from "@accountlink/core/errors";
import { type HttpApp, type HttpRequest, type HttpResponse, textOf, urlOfTarget } from "@accountlink/http";
import { Effect, Stream } from "effect";
import type { RefusalOf } from "./node_server.ts";
import type { RequestTurns } from "./request_turns.ts";

/** Refuses requests that Node accepts with a repeated header, a foreign host or an unknown `Expect`. */
export const refuseMalformed = (publicUrl: string): RefusalOf => {
  const publicHost = new URL(publicUrl).host;
  return (request) => {
    const problem = headProblem(request, publicHost);
    return problem === null ? null : new MalformedRequest({ problem });
  };
};

const headProblem = (request: IncomingMessage, publicHost: string): MalformedRequest["problem"] | null => {
  const { headers, httpVersion, url = "" } = request;
  const { authorization, expect, host } = headers;
  if (host === undefined ? httpVersion === "1.1" : isRepeated("host", host, request)) return "host";
  if (authorization !== undefined && isRepeated("authorization", authorization, request)) {
    return "authorization";
  }
  if (!url.startsWith("/") && isForeign(url, request.socket, publicHost)) return "host";
  return expect === undefined || httpVersion !== "1.1" || isContinue.test(expect) ? null : "expectation";
};

/**
 * Returns whether a header was sent more than once. Node joins repeated headers with commas, so a value without a comma
 * was sent once. For other values, reads `headersDistinct`, which Node builds only on demand.
 */
const isRepeated = (name: string, value: string, request: IncomingMessage): boolean =>
  value.includes(",") && (request.headersDistinct[name]?.length ?? 0) > 1;

const isContinue = /(?:^|\W)100-continue(?:$|\W)/i;

/** Returns whether a request target is an absolute URL whose host is neither the public host nor the local address. */
const isForeign = (target: string, { localAddress, localPort }: Socket, publicHost: string): boolean => {
  if (!/^https?:\/\//i.test(target)) return false;
  const address = localAddress?.replace(/^::ffff:/i, "") ?? "";
  const names = [address.includes(":") ? `[${address}]` : address];
  if (/^(?:127\.|::1$)/.test(address)) names.push("localhost");
  const own = names.map((name) => URL.parse(`http://${name}:${localPort}`)?.host);
  const host = URL.parse(target)?.host;
  return host === undefined || (host !== publicHost && !own.includes(host));
};

type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** Responds to requests that Node's parser refuses or that time out. */
export const answerClientErrors = (server: Server, app: HttpApp, turns: RequestTurns) =>
  Effect.map(Effect.context(), (context) => {
    const run = Effect.runForkWith(context);
    const refused = new WeakSet<Socket>();

    server.on("clientError", (error: ClientError, duplex) => {
      const socket = duplex as Socket;
      // After the first error, the parser refuses everything else that the client sends. Only the first error is
      // answered.
      if (refused.has(socket)) return;
      refused.add(socket);
      const { entered, chunk = error.rawPacket } = turns.connectionOf(socket);
      const current = entered[0]?.response;
      if (!socket.writable || (current !== undefined && (current.headersSent || current.req.complete))) {
        socket.destroy();
        return;
      }
      const { remoteAddress } = socket;
      const target = current?.req.url ?? requestLine.exec(chunk?.toString("latin1") ?? "")?.[1];
      const request = unreadRequest(target, remoteAddress);
      const answer =
        error.code === "HPE_INVALID_METHOD" && target !== undefined
          ? app.answer({ ...request, method: unknownMethod })
          : app.refuse(request, refusalOf(error));
      run(Effect.map(answer, (response) => sendLast(socket, rawAnswer(response), error)));
    });
    // Without this listener, Node would answer an unknown `Expect` header with an empty 417.
    server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  });

const requestLine = /^[!#-'*+.^`|~\w-]+ ((?:https?:\/)?\/\S*) HTTP\/1\.[01]\r\n/i;

/** Clients could invent any number of methods, so this name stands for all methods that Node's parser does not know. */
const unknownMethod = "_OTHER";

/** Stands for a request that Node could not parse, or could parse only up to its target. Without one, it is no page's. */
const unreadRequest = (target = "*", remoteAddress: string | undefined): HttpRequest => ({
  method: "GET",
  url: urlOfTarget(target),
  remoteAddress,
  header: () => undefined,
  readBody: () => Effect.succeed(new Uint8Array()),
  streamBody: () => Stream.empty,
});

const refusalOf = ({ code }: NodeJS.ErrnoException): PublicError => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new MalformedRequest({ problem: "timeout" });
    case "HPE_HEADER_OVERFLOW":
      return new MalformedRequest({ problem: "head_too_large" });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new InvalidBody({ problem: "too_large", reason: "the chunk extensions are too large" });
    default:
      return new MalformedRequest({ problem: "syntax" });
  }
};

/** The raw text of a response that closes the connection. */
const rawAnswer = (response: HttpResponse): string => {
  const { status, headers } = response;
  const text = textOf(response);
  const all = {
    ...headers,
    "content-length": Buffer.byteLength(text),
    date: new Date().toUTCString(),
    connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`;
};

/** How long a client that is still sending can read the answer before the connection is reset, in milliseconds. */
const lingering = 500;

const sendLast = (socket: Socket, answer: string, { code }: NodeJS.ErrnoException): void => {
  if (!socket.writable) return;
  socket.end(answer);
  // A request that timed out must not be carried out, so do not read the rest of it.
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return socket.destroySoon();
  const timer = setTimeout(() => socket.destroy(), lingering);
  socket.once("close", () => clearTimeout(timer));
};
