import { InvalidParameter } from "@accountlink/core";
import {
  EventFeed,
  type EventType,
  type FeedEvent,
  type FeedStart,
  type FeedStep,
  type FeedTarget,
} from "@accountlink/core/events";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { EventsV2 } from "@accountlink/http-api";
import { Effect } from "effect";
import { Sse } from "effect/encoding";
import { makeWaitProblems } from "../pipeline/parameters.ts";
import type { GuildInput, KeyedInput, Pipeline } from "../pipeline/pipeline.ts";
import { toContract } from "../request_context.ts";
import { comment, lastEventId, opening, streamResponse } from "../sessions/event_stream.ts";

type StartValues = Omit<KeyedInput<typeof EventsV2.streamEvents.parameters>["values"], "guildId">;

export const eventRoutes = Effect.fnUntraced(function* ({ keyed, streamed }: Pipeline) {
  const feed = yield* EventFeed;
  const waitProblems = yield* makeWaitProblems;

  return [
    keyed(
      EventsV2.getEvents,
      (input) => {
        const { values } = input;
        const { limit, wait } = values;
        return Effect.map(
          feed.read(targetOf(input), { ...startOf(values), limit, wait: wait * 1_000 }),
          ({ events, cursor, more }) => ({ data: { events: events.map(eventResponse), cursor, more } }),
        );
      },
      { findProblems: waitProblems },
    ),
    streamed(EventsV2.streamEvents, (input) => {
      const { values, context } = input;
      const last = lastEventId(context);
      const start = startOf(last === null ? values : { ...values, cursor: last });
      const opened = feed
        .stream(targetOf(input), start)
        .pipe(
          last === null
            ? (effect) => effect
            : Effect.catchTag("InvalidParameter", () =>
                Effect.fail(InvalidParameter.one("Last-Event-ID", "expected a cursor of this scope")),
              ),
        );
      const dataOf = (event: FeedEvent) => JSON.stringify(toContract(context, eventResponse(event)));
      return Effect.map(opened, (steps) => streamResponse(context, steps, (step) => textOf(step, dataOf)));
    }),
  ];
});

const targetOf = ({ key, values }: GuildInput): FeedTarget => ({
  scope: key.scope,
  guildId: values.guildId,
  keyId: key.id,
});

const startOf = ({ cursor, from, types, chatId, gameId }: StartValues): FeedStart => ({
  cursor,
  from,
  types: types === null ? null : (types.split(",") as ReadonlyArray<EventType>),
  chatId,
  gameId,
});

const eventResponse = ({ id, type, at, data }: FeedEvent): typeof EventsV2.Event.Encoded =>
  ({
    id,
    type,
    at: formatTimestamp(at),
    data: "lastVerifiedAt" in data ? { ...data, lastVerifiedAt: formatTimestamp(data.lastVerifiedAt) } : data,
  }) as typeof EventsV2.Event.Encoded;

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
