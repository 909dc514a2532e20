/**
 * A worker's side of the channel to the primary process.
 */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Context } from "effect";
import { Channel } from "./channel.ts";
import { serveHanded } from "./handed_connections.ts";
import type { Answers, Health, Service, ToPrimary, ToWorker, WorkerStart } from "./messages.ts";

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
  readonly ready: (report: Report) => void;
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

  const channel = new Channel<ToPrimary, ToWorker>(process, {
    onMessage: (message, socket) => {
      switch (message.type) {
        case "start":
          return started.resolve(message.start);
        case "listening":
          return listening.resolve(message.address);
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
      health: async (): Promise<Answers["health"]> =>
        (await report?.health()) ?? { failing: ["starting"], degraded: [] },
    },
  });
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
  const metricsOfAll = () => channel.ask("metrics");
  return started.promise.then((start) => ({ start, serve, ready, metricsOfAll }));
};
