/**
 * How many connections a client address, and all clients together, may have open.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { type ClientAddress, clientAddress, parseAddress, SharedIpRateLimited } from "@accountlink/core";
import { type HttpApp, refuseWhere } from "@accountlink/http";
import { toIncomingMessage, toServerResponse } from "@effect/platform-node/NodeHttpServerRequest";
import { Effect, Metric, Option } from "effect";
import type { HttpServerRequest } from "effect/http";
import { IpNetwork } from "effect/net";
import type { Config } from "./config.ts";

const refusals = Metric.counter("accountlink_http_connections_refused_total", {
  description:
    "Connections that were closed at once, and requests behind proxies that were refused, for a cap",
  incremental: true,
});

/**
 * Caps the connections of a server. One over a cap is closed at once: an answer would hold what the cap is to free.
 *
 * A trusted proxy may have any number, within the cap of all. Behind one, what counts is the requests that a client
 * address has open.
 *
 * @returns what puts that cap on an application
 */
export const capConnections = (server: Server, config: Config) =>
  Effect.map(Effect.context(), (context): ((app: HttpApp) => HttpApp) => {
    const { ACCOUNTLINK_CONNECTIONS_PER_IP: limit, ACCOUNTLINK_TRUSTED_PROXIES: proxies } = config;
    const countRefusal = (cap: "address" | "all") =>
      Metric.withAttributes(refusals, { cap }).updateUnsafe(1, context);

    server.maxConnections = Math.min(config.ACCOUNTLINK_CONNECTIONS, connectionsOf(openFiles()));
    server.on("drop", () => countRefusal("all"));
    if (limit === 0) return (app) => app;

    const sockets = new Counts(limit);
    const requests = new Counts(limit);
    const proxied = new WeakMap<Socket, ClientAddress>();

    server.on("connection", (socket) => {
      const address = Option.getOrUndefined(parseAddress(socket.remoteAddress ?? ""));
      if (address === undefined) return;
      if (isIn(proxies, address)) {
        proxied.set(socket, address);
      } else if (sockets.take(address.countedAs)) {
        socket.once("close", () => sockets.release(address.countedAs));
      } else {
        countRefusal("address");
        socket.destroy();
      }
    });

    const refusalOf = (request: HttpServerRequest.HttpServerRequest) => {
      const forwardedFor = request.headers["x-forwarded-for"];
      const proxy = proxied.get((toIncomingMessage(request) as IncomingMessage).socket);
      if (proxy === undefined || forwardedFor === undefined) return null;
      const client = clientAddress(proxy, forwardedFor, proxies);
      if (isIn(proxies, client)) return null;
      if (requests.take(client.countedAs)) {
        toServerResponse(request).once("close", () => requests.release(client.countedAs));
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
    return (app) => (proxies.length === 0 ? app : refuseWhere(app, refusalOf));
  });

/** How many of something are open, by name. */
class Counts {
  readonly #limit: number;
  readonly #open = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts one more, or gives false where that is one too many. */
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

const isIn = (networks: ReadonlyArray<IpNetwork.IpNetwork>, { ip }: ClientAddress): boolean =>
  networks.some((network) => IpNetwork.contains(network, ip));

/** How many files the process may have open, as far as that is known. Node raises the soft limit to the hard one. */
const openFiles = (): number => {
  if (process.platform !== "linux") return Infinity;
  const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return most === undefined ? Infinity : Number(most);
};

/** What of the open files connections of clients may be: a share is left to the stores, the platforms and the log. */
const connectionsOf = (files: number): number => files - Math.min(256, Math.ceil(files / 4));
