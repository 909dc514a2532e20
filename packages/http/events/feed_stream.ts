/**
 * A feed as server-sent events.
 */
import type { FeedEvent, FeedStep } from "@accountlink/core/events";
import { Effect, Stream } from "effect";
import { Sse } from "effect/encoding";
import { HttpResponse } from "../http_response.ts";
import { type RequestContext, toContract } from "../request_context.ts";
import { comment, opening, streamHeaders } from "../sessions/event_stream.ts";

const encoder = new TextEncoder();

/** Streams the events of a feed as they happen. */
export const feedStream = (
  context: RequestContext,
  steps: Stream.Stream<FeedStep>,
  toResponse: (event: FeedEvent) => unknown,
): HttpResponse => {
  const dataOf = (event: FeedEvent) => JSON.stringify(toContract(context, toResponse(event)));
  const chunks = Stream.map(steps, (step) => encoder.encode(textOf(step, dataOf)));
  const headers = { ...streamHeaders(context), "content-type": "text/event-stream" };
  return new HttpResponse(200, headers, { chunks, release: Effect.void });
};

const textOf = (step: FeedStep, dataOf: (event: FeedEvent) => string): string => {
  switch (step.step) {
    case "begin":
      return opening;
    case "idle":
      return comment;
    // With an id, so that an `EventSource` that began at the present goes on here.
    case "timeout":
      return Sse.encoder.write({ _tag: "Event", event: "timeout", id: step.cursor, data: "{}" });
    case "event": {
      const { event, cursor } = step;
      return Sse.encoder.write({ _tag: "Event", event: event.type, id: cursor, data: dataOf(event) });
    }
  }
};
