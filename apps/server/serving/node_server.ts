/** Node's HTTP server, with timeouts for slow clients and without protocol upgrades. */
import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PublicError } from "@accountlink/core";
import { type HttpApp, makeNodeListener } from "@accountlink/http";
import { Effect } from "effect";
import type { Config } from "../config/config.ts";
import type { RequestTurns } from "./request_turns.ts";

/** How long a request may stay unanswered beyond the longest long poll, in milliseconds. */
const longestSilence = 300_000;

/**
 * Makes the server with the configured timeouts.
 *
 * @param silence how long a request may stay unanswered before its connection is closed, in milliseconds
 */
export const makeNodeServer = (config: Config, silence = longestSilence): Server => {
  const { ACCOUNTLINK_HEADER_TIMEOUT: head, ACCOUNTLINK_REQUEST_TIMEOUT: request } = config;
  const server: Server = createServer({
    IncomingMessage: PlainRequest,
    ServerResponse: responseClass(() => server.listening),
    optimizeEmptyRequests: true,
    // With these options, Node does not refuse or change requests that `headProblem` has to check.
    joinDuplicateHeaders: true,
    requireHostHeader: false,
    requestTimeout: request,
    // Node requires `headersTimeout` to be at most `requestTimeout`.
    headersTimeout: head === 0 || request === 0 ? head : Math.min(head, request),
    keepAliveTimeout: config.ACCOUNTLINK_IDLE_TIMEOUT,
    // The checks are frequent, so that timeouts of many clients do not all fall into one turn of the event loop.
    connectionsCheckingInterval: checkInterval(Math.min(head || Infinity, request || Infinity)),
  });
  const longPoll = config.ACCOUNTLINK_LONG_POLL_MAX;
  server.setTimeout(longPoll === 0 ? 0 : longPoll + silence);
  for (const event of ["request", "checkContinue"]) server.on(event, closeBehindUpgrade);
  enforceWriteDeadline(server, config.ACCOUNTLINK_WRITE_TIMEOUT);
  return server;
};

/** Returns the error that refuses a request before routing, or null. Called once for each request. */
export type RefusalOf = (request: IncomingMessage, response: ServerResponse) => PublicError | null;

/** Passes the requests of the server to the application when it is their turn. */
export const answerRequests = Effect.fnUntraced(function* (
  node: Server,
  turns: RequestTurns,
  app: HttpApp,
  refusalOf: RefusalOf,
) {
  const listener = yield* makeNodeListener(app);
  const answer = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
    turns.enter(request, response, (turn) =>
      listener(request, response, { refusal: refusalOf(request, response), expectsContinue, ...turn }),
    );
  node.on("request", answer(false));
  node.on("checkContinue", answer(true));
});

/** A request that Node treats as plain HTTP, whatever its `Upgrade` header or method. */
class PlainRequest extends IncomingMessage {}
Object.defineProperty(PlainRequest.prototype, "upgrade", { get: () => false, set: () => {} });

/** Node's parser drops requests that are pipelined after an upgrade request, so the connection must be closed. */
const closeBehindUpgrade = ({ headers, method }: IncomingMessage, response: ServerResponse): void => {
  if (headers.upgrade !== undefined || method === "CONNECT") response.shouldKeepAlive = false;
};

const responseClass = (isListening: () => boolean) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    /** A draining server has closed its port, so each response closes its connection. */
    override writeHead(...head: [number]): this {
      if (!isListening()) this.shouldKeepAlive = false;
      return super.writeHead(...head);
    }

    /**
     * Emits "close". Node does not emit this event for a pipelined response if the connection closes while the response
     * waits for an earlier one.
     */
    override destroy(error?: Error): this {
      const isWaiting = this.socket === null && !this.destroyed;
      super.destroy(error);
      if (isWaiting) process.nextTick(() => this.emit("close"));
      return this;
    }
  };

/** The interval between checks of a timeout, in milliseconds: a tenth of the timeout, from 50 to 250. */
const checkInterval = (deadline: number): number => Math.min(250, Math.max(50, Math.ceil(deadline / 10)));

/**
 * Closes a connection if its client does not read all buffered bytes within the deadline, in milliseconds. The time
 * counts from the first buffered byte, so that slow reads do not extend it.
 */
const enforceWriteDeadline = (server: Server, deadline: number): void => {
  if (deadline === 0) return;
  const waitingSince = new Map<Socket, number | null>();

  server.on("connection", (socket) => {
    waitingSince.set(socket, null);
    socket.once("close", () => waitingSince.delete(socket));
  });

  const check = () => {
    const now = performance.now();
    for (const [socket, since] of waitingSince) {
      if (socket.writableLength === 0) waitingSince.set(socket, null);
      else if (since === null) waitingSince.set(socket, now);
      else if (now - since >= deadline) socket.destroy();
    }
  };

  server.on("listening", () => {
    const timer = setInterval(check, checkInterval(deadline));
    timer.unref();
    server.once("close", () => clearInterval(timer));
  });
};
