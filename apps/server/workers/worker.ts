/**
 * A worker's side of the channel to the primary process.
 */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Context, Effect, type Scope } from "effect";
import { Channel } from "./channel.ts";
import { serveHanded } from "./handed_connections.ts";
import type { Health, Service, ToPrimary, ToWorker, WorkerStart } from "./messages.ts";
import type { SharedCacheLink } from "./shared_cache.ts";
import { OwnWriteTurn } from "./write_turns.ts";

/** What a worker tells of itself. */
interface Report extends Service {
  readonly health: () => Promise<Health>;
  readonly metrics: () => Promise<string>;
}

/** This process as one of several workers. */
export interface Worker {
  readonly start: WorkerStart;
  /**
   * Lets the server serve what the primary process accepts.
   *
   * @returns waits until the port is closed, and then for the last connection
   */
  readonly serve: (server: Server) => () => Promise<{ readonly closed: Promise<void> }>;
  /** The way to what all workers share without Redis. */
  readonly cache: SharedCacheLink;
  readonly ready: (report: Report) => void;
  /** This worker's turn to write to a database that one process at a time can write to. */
  readonly writeTurn: Effect.Effect<void, never, Scope.Scope>;
  /** The metrics of all processes; null when the primary process does not answer. */
  readonly metricsOfAll: () => Promise<string | null>;
}

/** Null when this process is the only one. */
export const CurrentWorker = Context.Reference<Worker | null>("@accountlink/server/CurrentWorker", {
  defaultValue: () => null,
});

/**
 * Waits for the primary process to tell how to start.
 *
 * @param stop called when it says so, and when it is gone
 */
export const joinPrimary = (stop: () => void): Promise<Worker> => {
  const started = Promise.withResolvers<WorkerStart>();
  const listening = Promise.withResolvers<AddressInfo>();
  const closed = Promise.withResolvers<void>();
  let take: ReturnType<typeof serveHanded>["take"] | undefined;
  let report: Report | undefined;

  let deliver: ((topic: string, message: string) => void) | undefined;

  const channel = new Channel<ToPrimary, ToWorker, "metrics" | "health">(process, {
    onMessage: (message, socket) => {
      switch (message.type) {
        case "start":
          return started.resolve(message.start);
        case "listening":
          return listening.resolve(message.address);
        case "turn":
          return turn.hear(message.notice);
        case "signal":
          return deliver?.(message.topic, message.message);
        case "stop":
          return stop();
        case "closed":
          return closed.resolve();
        case "connection":
          channel.tell({ type: "taken", connection: message.connection });
          if (socket !== undefined) take?.(socket);
      }
    },
    answers: {
      metrics: async () => (await report?.metrics()) ?? "",
      health: async () => (await report?.health()) ?? { failing: ["starting"], degraded: [] },
    },
  });
  const turn = new OwnWriteTurn((request) => channel.tell({ type: "turn", request }));
  process.once("disconnect", () => {
    closed.resolve();
    stop();
  });

  const serve = (server: Server) => {
    const connections = serveHanded(server, () => {
      channel.tell({ type: "prepared" });
      return listening.promise;
    });
    take = connections.take;
    return async () => {
      await closed.promise;
      return { closed: connections.ended() };
    };
  };
  const ready = (own: Report) => {
    report = own;
    channel.tell({ type: "ready", service: { deployment: own.deployment, url: own.url } });
  };
  const metricsOfAll = () => channel.ask("metrics", null);
  const cache: SharedCacheLink = {
    call: (calls) => channel.ask("cache", calls),
    publish: (topic, message) => channel.tell({ type: "signal", topic, message }),
    onMessage: (taking) => {
      deliver = taking;
    },
  };
  const writeTurn = Effect.acquireRelease(
    Effect.promise(() => turn.begin()),
    () => Effect.sync(() => turn.end()),
  );
  return started.promise.then((start) => ({ start, serve, ready, metricsOfAll, cache, writeTurn }));
};
