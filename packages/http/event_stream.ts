/**
 * Sessions as server-sent events.
 */
import type { ReadSession, SessionEvent } from "@accountlink/core";
import { Stream } from "effect";
import { HttpServerResponse } from "effect/http";
import { commonHeaders } from "./envelope.ts";
import { agreedData, type Exchange } from "./exchange.ts";

/** What a stream begins with: how long a client waits before it connects again, in milliseconds. */
const opening = "retry: 2000\n\n";

const encoder = new TextEncoder();

/** The answer that tells the events of a session as they happen. */
export const eventStream = (
  exchange: Exchange,
  events: Stream.Stream<SessionEvent>,
  shown: (session: ReadSession) => unknown,
): HttpServerResponse.HttpServerResponse => {
  const dataOf = (session: ReadSession) => agreedData(exchange, shown(session));
  // One step and no more: each that a stream goes through costs some kilobytes for as long as its client waits.
  const chunks = Stream.map(events, (event, index) =>
    encoder.encode(index === 0 ? opening + textOf(event, dataOf) : textOf(event, dataOf)),
  );
  return HttpServerResponse.stream(chunks, {
    contentType: "text/event-stream",
    headers: headersOf(exchange),
  });
};

/** The answer to a client that knows all there is to tell: it stops an `EventSource`. */
export const noEvents = (exchange: Exchange): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status: 204, headers: headersOf(exchange) });

const headersOf = (exchange: Exchange): Record<string, string> => {
  const headers = commonHeaders(exchange, exchange.clock.currentTimeMillisUnsafe());
  if (exchange.route.generation === "v2") headers["service-version"] = exchange.contract.date;
  // A proxy that collected the events would tell them when the stream is over.
  headers["x-accel-buffering"] = "no";
  return headers;
};

const textOf = (event: SessionEvent, dataOf: (session: ReadSession) => unknown): string => {
  switch (event.event) {
    case "idle":
      return ":\n\n";
    case "timeout":
      return "event: timeout\ndata: {}\n\n";
    default:
      return `event: ${event.event}\nid: ${event.session.change}\ndata: ${JSON.stringify(dataOf(event.session))}\n\n`;
  }
};
