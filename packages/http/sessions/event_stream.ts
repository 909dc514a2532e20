import type { ReadSession, SessionEvent } from "@accountlink/core/sessions";
import { Effect, Stream } from "effect";
import { Sse } from "effect/encoding";
import { commonHeaders } from "../envelopes/envelope.ts";
import { emptyResponse, HttpResponse } from "../http_app.ts";
import { type RequestContext, toContract } from "../request_context.ts";

/** The start of a stream, which tells clients how many milliseconds to wait before they reconnect. */
export const opening = "retry: 2000\n\n";

/**
 * A comment in a stream of server-sent events. It keeps an idle connection open. Effect's encoder cannot write
 * comments.
 */
export const comment = ":\n\n";

const encoder = new TextEncoder();

export const eventStream = (
  context: RequestContext,
  events: Stream.Stream<SessionEvent>,
  toResponse: (session: ReadSession) => unknown,
): HttpResponse => {
  const dataOf = (session: ReadSession) => toContract(context, toResponse(session));
  return streamResponse(context, events, (event, index) =>
    index === 0 ? opening + textOf(event, dataOf) : textOf(event, dataOf),
  );
};

export const streamResponse = <Event>(
  context: RequestContext,
  events: Stream.Stream<Event>,
  textOfEvent: (event: Event, index: number) => string,
): HttpResponse => {
  // Use only one stream operator: each operator takes some kilobytes of memory as long as the client waits.
  const chunks = Stream.map(events, (event, index) => encoder.encode(textOfEvent(event, index)));
  const headers = { ...streamHeaders(context), "content-type": "text/event-stream" };
  return new HttpResponse(200, headers, { chunks, release: Effect.void });
};

/**
 * The response to a client that has already received the final state. The status 204 keeps an `EventSource` from
 * reconnecting.
 */
export const noEvents = (context: RequestContext): HttpResponse => emptyResponse(204, streamHeaders(context));

const streamHeaders = (context: RequestContext): Record<string, string> => {
  const headers = commonHeaders(context, context.clock.currentTimeMillisUnsafe());
  if (context.route.generation === "v2") headers["service-version"] = context.contract.date;
  // Without this header a buffering proxy would hold the events back until the stream ends.
  headers["x-accel-buffering"] = "no";
  // A proxy that compresses the stream would hold events back as well.
  headers["cache-control"] = "no-store, no-transform";
  return headers;
};

const textOf = (event: SessionEvent, dataOf: (session: ReadSession) => unknown): string => {
  switch (event.event) {
    case "idle":
      return comment;
    case "timeout":
      return Sse.encoder.write({ _tag: "Event", event: "timeout", id: undefined, data: "{}" });
    default: {
      const data = JSON.stringify(dataOf(event.session));
      return Sse.encoder.write({ _tag: "Event", event: event.event, id: String(event.session.change), data });
    }
  }
};

export const lastEventId = ({ request }: RequestContext): string | null => {
  const id = request.header("last-event-id") ?? "";
  return id === "" ? null : id;
};
