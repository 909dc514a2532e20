import { dayMs } from "@accountlink/core/timestamp";
import { expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import type { Config } from "../../config/config.ts";
import { checkEvents } from "./check_events.ts";

const config = { ACCOUNTLINK_EVENT_RETENTION: 30 * dayMs } as Config;

it.effect("warns of events that are kept for too long", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(100 * dayMs);
    const statusAt = (days: number) =>
      Effect.map(checkEvents(config, { oldestEvent: (100 - days) * dayMs }), ([found]) => found?.status);
    expect(yield* statusAt(1)).toBe("ok");
    expect(yield* statusAt(30.5)).toBe("ok");
    expect(yield* statusAt(32)).toBe("warn");
    expect(yield* checkEvents(config, null)).toEqual([]);
  }),
);
