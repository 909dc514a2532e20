import { ChatId } from "@accountlink/core";
import { newEvent } from "@accountlink/core/events";
import { describe, expect, it } from "vitest";
import { ScopeEvents } from "./scope_events.ts";
import { earliest } from "./state.ts";

const many = 200_000;

describe("ScopeEvents", () => {
  it("a feed forgets any number of events at once", () => {
    const feed = new ScopeEvents();
    const event = newEvent(1, { type: "user.erased", data: { chatId: ChatId.make("100001") } });
    for (let i = 0; i < many; i++) feed.append(event);
    expect(feed.forget(2)).toBe(many);
    expect(feed).toMatchObject({ start: many, end: many });
  });
});

describe("earliest", () => {
  it("`earliest` finds the first of any number of times", () => {
    expect(earliest(Array.from({ length: many }, (_, i) => many - i))).toBe(1);
    expect(earliest([])).toBeNull();
  });
});
