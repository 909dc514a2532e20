import { LinkStore, type StoragePorts } from "@accountlink/core";
import { ReminderStore, reminderPause } from "@accountlink/core/reminders";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { check, uniqueText } from "../mod.ts";
import { expectEqual } from "./expect.ts";
import { newRoleSteps } from "./roles/role_steps.ts";
import { atOnce, origin } from "./scopes.ts";
import type { Cases } from "./suite.ts";

/** Reminders by two scopes of a guild, and time between them. */
const steps = FastCheck.array(
  FastCheck.record({
    wait: FastCheck.constantFrom(0, 1, reminderPause - 1, reminderPause),
    scope: FastCheck.nat(1),
    member: FastCheck.nat(3),
    isReleased: FastCheck.nat(4).map((number) => number === 0),
  }),
  { minLength: 10, maxLength: 20 },
);

export const reminderCases: Cases<StoragePorts> = {
  "whatever scopes of a guild claim and release, each member is reminded once, and one of them in a pause":
    check(
      steps,
      Effect.fnUntraced(function* (all) {
        const store = yield* ReminderStore;
        const [{ place }, other] = [yield* newRoleSteps, yield* newRoleSteps];
        const places = [place, { ...place, pid: other.place.pid }];
        const hashes = Array.from({ length: 4 }, uniqueText);
        const reminded = new Map<string, number>();
        let at = 9;
        for (const { wait, scope, member, isReleased } of all) {
          at += wait;
          const [by, hash] = [places[scope] ?? place, hashes[member] ?? ""];
          if (isReleased) {
            yield* store.release(by, hash);
            reminded.delete(hash);
            continue;
          }
          const isEarly = [...reminded.values()].some((time) => time > at - reminderPause);
          const expected = reminded.has(hash) ? "reminded" : isEarly ? "early" : "claimed";
          expectEqual(yield* store.claim({ ...by, hash, at }), expected);
          if (expected === "claimed") reminded.set(hash, at);
          expectEqual(yield* store.reminded(by, hashes), new Map(reminded));
        }
      }),
      { runs: 8 },
    ),

  "of several claims at once, one holds: each member once, and one member at a time": function* () {
    const store = yield* ReminderStore;
    const { place } = yield* newRoleSteps;
    const [one, ...others] = Array.from({ length: 4 }, uniqueText);
    const claim = (hash: string, at: number) => store.claim({ ...place, hash, at });
    const same = yield* Effect.forEach([one, one, one], (hash) => claim(hash ?? "", 9), atOnce);
    expectEqual(same.toSorted(), ["claimed", "reminded", "reminded"]);
    expectEqual(yield* claim(others[0] ?? "", 9 + reminderPause - 1), "early");
    const later = yield* Effect.forEach(others, (hash) => claim(hash, 9 + reminderPause), atOnce);
    expectEqual(later.toSorted(), ["claimed", "early", "early"]);
    expectEqual((yield* store.reminded(place, [one ?? "", ...others])).size, 2);
  },

  "a member whom one scope reminded in a guild is reminded by no other there": function* () {
    const store = yield* ReminderStore;
    const [{ place }, other] = [yield* newRoleSteps, yield* newRoleSteps];
    const rival = { pid: other.place.pid, guildId: place.guildId };
    const [hash, next] = [uniqueText(), uniqueText()];
    const both = yield* Effect.forEach(
      [place, rival],
      (each) => store.claim({ ...each, hash, at: 9 }),
      atOnce,
    );
    expectEqual(both.toSorted(), ["claimed", "reminded"]);
    expectEqual(yield* store.claim({ ...rival, hash: next, at: 9 }), "early");
    expectEqual(yield* store.reminded(rival, [hash]), new Map([[hash, 9]]));
    expectEqual(yield* store.claim({ ...other.place, hash, at: 9 }), "claimed");
  },

  "a claim waits for none of a clock that was ahead": function* () {
    const store = yield* ReminderStore;
    const { place } = yield* newRoleSteps;
    const [hash, next] = [uniqueText(), uniqueText()];
    expectEqual(yield* store.claim({ ...place, hash, at: 9 + 3_600_000 }), "claimed");
    expectEqual(yield* store.claim({ ...place, hash: next, at: 9 }), "claimed");
    expectEqual(yield* store.claim({ ...place, hash, at: 9 + reminderPause }), "reminded");
  },

  "a member stays reminded in a guild when the scope that reminded them is deleted": function* () {
    const store = yield* ReminderStore;
    const [{ place }, other] = [yield* newRoleSteps, yield* newRoleSteps];
    const hash = uniqueText();
    expectEqual(yield* store.claim({ ...place, hash, at: 9 }), "claimed");
    yield* (yield* LinkStore).deleteScope({ ...origin, pid: place.pid, at: 10 });
    const remade = { pid: other.place.pid, guildId: place.guildId };
    expectEqual(yield* store.claim({ ...remade, hash, at: 9 + reminderPause }), "reminded");
  },
};
