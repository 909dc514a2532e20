import { ChatId, EventStore, Pid } from "@accountlink/core";
import { newEvent } from "@accountlink/core/events";
import { Effect, Layer } from "effect";
import { expect, it } from "vitest";
import * as MemoryEventStore from "./event_store.ts";
import { earliest, State } from "./state.ts";

const many = 200_000;

it("a feed forgets any number of events at once", () =>
  Effect.gen(function* () {
    const pid = Pid.make("pid_0123456789abcdefghij");
    const event = newEvent(1, { type: "user.erased", data: { chatId: ChatId.make("100001") } });
    const memory = yield* State;
    for (let i = 0; i < many; i++) memory.append(pid, event);
    const store = yield* EventStore;
    expect(yield* store.sweep({ before: 2, erasuresBefore: 0 })).toBe(many);
    expect(yield* store.range(pid)).toEqual({ start: many, end: many });
  }).pipe(Effect.provide(Layer.provideMerge(MemoryEventStore.layer, State.layer)), Effect.runPromise));

it("`earliest` finds the first of any number of times", () => {
  expect(earliest(Array.from({ length: many }, (_, i) => many - i))).toBe(1);
  expect(earliest([])).toBeNull();
});
