import type { Server } from "node:http";
import type { Socket } from "node:net";
import { type ClientAddress, clientAddress, inAny, parseAddress } from "@accountlink/core/addresses";
import { SharedIpRateLimited } from "@accountlink/core/errors";
import { Effect, Metric, Option } from "effect";
import type { Config } from "../config/config.ts";
import { mostOpenFiles } from "../telemetry/process_metrics.ts";
import type { RefusalOf } from "./node_server.ts";

const refusals = Metric.counter("accountlink_http_connections_refused_total", {
  description:
    "Connections that were closed at once, and requests behind proxies that were refused, for a cap",
  incremental: true,
});

/**
 * Limits the open connections of a server, in total and per client address. A connection over a limit is closed without
 * a response, since sending a response would keep the connection open longer.
 *
 * Connections from a trusted proxy count only toward the total. Behind a trusted proxy, the requests in flight of each
 * client address are limited instead.
 *
 * @returns functions that refuse a request if its client address has too many requests in flight; empty if there is no
 * limit or no trusted proxy
 */
export const limitConnections = (server: Server, config: Config) =>
  Effect.map(Effect.context(), (context): ReadonlyArray<RefusalOf> => {
    const { ACCOUNTLINK_CONNECTIONS_PER_IP: limit, ACCOUNTLINK_TRUSTED_PROXIES: proxies } = config;
    const countRefusal = (cap: "address" | "all") =>
      Metric.withAttributes(refusals, { cap }).updateUnsafe(1, context);

    server.maxConnections = Math.min(config.ACCOUNTLINK_CONNECTIONS, connectionsOf(mostOpenFiles()));
    server.on("drop", () => countRefusal("all"));
    if (limit === 0) return [];

    const sockets = new Counts(limit);
    const requests = new Counts(limit);
    const proxied = new WeakMap<Socket, ClientAddress>();

    server.on("connection", (socket) => {
      const address = Option.getOrUndefined(parseAddress(socket.remoteAddress ?? ""));
      if (address === undefined) return;
      if (inAny(proxies, address)) {
        proxied.set(socket, address);
      } else if (sockets.take(address.countedAs)) {
        socket.once("close", () => sockets.release(address.countedAs));
      } else {
        countRefusal("address");
        socket.destroy();
      }
    });

    if (proxies.length === 0) return [];

    const refuseOverLimit: RefusalOf = ({ headers, socket }, response) => {
      const proxy = proxied.get(socket);
      const forwardedFor = headers["x-forwarded-for"] as string | undefined;
      if (proxy === undefined || forwardedFor === undefined) return null;
      const client = clientAddress(proxy, forwardedFor, proxies);
      if (inAny(proxies, client)) return null;
      if (requests.take(client.countedAs)) {
        response.once("close", () => requests.release(client.countedAs));
        return null;
      }
      countRefusal("address");
      return new SharedIpRateLimited({
        bucket: "ip_second",
        limit,
        resetsAt: Date.now() + 1_000,
        retryAfter: 1,
      });
    };
    return [refuseOverLimit];
  });

class Counts {
  readonly #limit: number;
  readonly #open = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one more connection or request from an address. Returns false if the address has reached the limit. */
  take(name: string): boolean {
    const open = this.#open.get(name) ?? 0;
    if (open >= this.#limit) return false;
    this.#open.set(name, open + 1);
    return true;
  }

  release(name: string): void {
    const open = (this.#open.get(name) ?? 1) - 1;
    if (open === 0) this.#open.delete(name);
    else this.#open.set(name, open);
  }
}

/**
 * How many connections clients may open if this many files may be open. The rest is for stores, platforms and the log.
 */
const connectionsOf = (files: number): number => files - Math.min(256, Math.ceil(files / 4));
