/**
 * Node's HTTP server, as this service needs it: nothing is upgraded, and every wait for a client has a deadline.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "./config.ts";
import type { Drain } from "./drain.ts";

/**
 * Makes the server, with the deadlines of the configuration.
 *
 * @param drain once it has begun, responses are the last ones of their connections
 */
export const makeNodeServer = (config: Config, drain: Drain): Server => {
  const { ACCOUNTLINK_HEADER_TIMEOUT: head, ACCOUNTLINK_REQUEST_TIMEOUT: request } = config;
  const server = createServer({
    IncomingMessage: PlainRequest,
    ServerResponse: responseClass(drain),
    optimizeEmptyRequests: true,
    // What Node would drop or refuse without a word is for `headProblem` to see.
    joinDuplicateHeaders: true,
    requireHostHeader: false,
    requestTimeout: request,
    // Node takes no longer one than that of the whole request.
    headersTimeout: head === 0 || request === 0 ? head : Math.min(head, request),
    keepAliveTimeout: config.ACCOUNTLINK_IDLE_TIMEOUT,
    // Often, so that clients that came together are not all answered 408 in one turn of the event loop.
    connectionsCheckingInterval: checkInterval(Math.min(head || Infinity, request || Infinity)),
  });
  for (const event of ["request", "checkContinue"]) server.on(event, closeBehindUpgrade);
  enforceWriteDeadline(server, config.ACCOUNTLINK_WRITE_TIMEOUT);
  return server;
};

/** A request that is never handed over to another protocol: neither by `Upgrade` nor by CONNECT. */
class PlainRequest extends IncomingMessage {}
Object.defineProperty(PlainRequest.prototype, "upgrade", { get: () => false, set: () => {} });

/** Node's parser loses what came in one packet behind such a request, so nobody may wait for an answer to it. */
const closeBehindUpgrade = ({ headers, method }: IncomingMessage, response: ServerResponse): void => {
  if (headers.upgrade !== undefined || method === "CONNECT") response.shouldKeepAlive = false;
};

/**
 * A response whose head and body leave in one write. Node makes two of them when it is asked to check the declared
 * length of the body, which Effect's server always asks; it also sets that length, from the very body that it writes.
 */
class WholeResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  /** Node tells nothing to the responses that wait behind another one when their connection is gone. */
  override destroy(error?: Error): this {
    const isWaiting = this.socket === null && !this.destroyed;
    super.destroy(error);
    if (isWaiting) process.nextTick(() => this.emit("close"));
    return this;
  }
}
Object.defineProperty(WholeResponse.prototype, "strictContentLength", { get: () => false, set: () => {} });

const responseClass = (drain: Drain) =>
  class<Request extends IncomingMessage> extends WholeResponse<Request> {
    override writeHead(...head: [number]): this {
      if (drain.isDraining) this.shouldKeepAlive = false;
      return super.writeHead(...head);
    }
  };

/** How often a deadline is looked at, so that it is missed by little. */
const checkInterval = (deadline: number): number => Math.min(250, Math.max(50, Math.ceil(deadline / 10)));

/**
 * Cuts connections whose client has not taken all that was written to it for as long as this, in milliseconds. It
 * counts from the first byte that waits, so that taking a few bytes now and then does not help.
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
