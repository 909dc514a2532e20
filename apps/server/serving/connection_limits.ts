import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientAddress, inAny } from "@accountlink/core/addresses";
import { SharedIpRateLimited } from "@accountlink/core/errors";
import { Effect, Metric } from "effect";
import type { Config } from "../config/config.ts";
import { mostOpenFiles } from "../telemetry/process_metrics.ts";
import type { RefusalOf } from "./node_server.ts";
import type { RequestTurns } from "./request_turns.ts";

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
 * @returns refuses a request if its client address has too many requests in flight
 */
export const limitConnections = (server: Server, turns: RequestTurns, config: Config) =>
  Effect.map(Effect.context(), (context): RefusalOf => {
    const { ACCOUNTLINK_TRUSTED_PROXIES: proxies } = config;
    const limit = config.ACCOUNTLINK_CONNECTIONS_PER_IP || Infinity;
    const countRefusal = (cap: "address" | "all") =>
      Metric.withAttributes(refusals, { cap }).updateUnsafe(1, context);

    server.maxConnections = Math.min(config.ACCOUNTLINK_CONNECTIONS, connectionsOf(mostOpenFiles()));
    server.on("drop", () => countRefusal("all"));
    const takeConnection = makeCounts(limit);
    const takeRequest = makeCounts(limit);

    server.on("connection", (socket) => {
      const { address } = turns.connectionOf(socket);
      if (address === null || takeConnection(address, socket)) return;
      countRefusal("address");
      socket.destroy();
    });

    return ({ headers, socket }, response) => {
      const { proxy } = turns.connectionOf(socket);
      const forwardedFor = headers["x-forwarded-for"] as string | undefined;
      if (limit === Infinity || proxy === null || forwardedFor === undefined) return null;
      const client = clientAddress(proxy, forwardedFor, proxies);
      if (inAny(proxies, client) || takeRequest(client.countedAs, response)) return null;
      countRefusal("address");
      return new SharedIpRateLimited({
        bucket: "ip_second",
        limit,
        resetsAt: Date.now() + 1_000,
        retryAfter: 1,
      });
    };
  });

/** Returns a function that counts a connection or request until it closes, or returns false if its address has reached the limit. */
const makeCounts = (limit: number) => {
  const counts = new Map<string, number>();
  return (address: string, opened: Socket | ServerResponse): boolean => {
    const open = counts.get(address) ?? 0;
    if (open >= limit) return false;
    counts.set(address, open + 1);
    opened.once("close", () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    });
    return true;
  };
};

/**
 * How many connections clients may open if this many files may be open. The rest is for stores, platforms and the log.
 */
const connectionsOf = (files: number): number => files - Math.min(256, Math.ceil(files / 4));
