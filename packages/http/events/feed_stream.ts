import type { FeedEvent, FeedStep } from "@accountlink/core/events";
import type { Stream } from "effect";
import { Sse } from "effect/encoding";
import type { HttpResponse } from "../http_app.ts";
import { type RequestContext, toContract } from "../request_context.ts";
import { comment, opening, streamResponse } from "../sessions/event_stream.ts";

export const feedStream = (
  context: RequestContext,
  steps: Stream.Stream<FeedStep>,
  toResponse: (event: FeedEvent) => unknown,
): HttpResponse => {
  const dataOf = (event: FeedEvent) => JSON.stringify(toContract(context, toResponse(event)));
  return streamResponse(context, steps, (step) => textOf(step, dataOf));
};

const textOf = (step: FeedStep, dataOf: (event: FeedEvent) => string): string => {
  switch (step.step) {
    case "begin":
      return opening;
    case "idle":
      return comment;
    // The event `timeout` has an ID, so that an `EventSource` that received no other event can resume at this position
    // when it reconnects.
    case "timeout":
      return Sse.encoder.write({ _tag: "Event", event: "timeout", id: step.cursor, data: "{}" });
    case "event": {
      const { event, cursor } = step;
      return Sse.encoder.write({ _tag: "Event", event: event.type, id: cursor, data: dataOf(event) });
    }
  }
};
