import { GameId, type StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import { newRequest } from "../idempotency/idempotency_steps.ts";
import { atOnce, chess } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newUserSteps } from "./user_steps.ts";

const rounds = Array.from({ length: 10 }, (_, i) => i);

export const races: Cases<StoragePorts> = {
  "erase concurrent with setGame: link and audit entry are both erased, or both remain": function* () {
    const user = yield* newUserSteps;
    for (const round of rounds) {
      const { account, global, guild } = yield* user.newScopes;
      yield* user.set(global, chess);
      const sets = [global, guild].map((scope) => user.set(scope, GameId.make(`${1_000 + round}`)));
      yield* Effect.all([...sets, user.eraseAll], atOnce);
      const { records, entries } = yield* user.find;
      const named = entries.filter((entry) => entry.account === account.name);
      expectEqual(
        new Set(named.map(({ pid }) => pid)),
        new Set(records.map(({ scope }) => scope.pid)),
        "The scopes in the audit log",
      );
      yield* user.eraseAll;
    }
  },

  "erase concurrent with complete: link, sighting and audit entry are all erased, or all remain":
    function* () {
      const user = yield* newUserSteps;
      const { global, guild } = yield* user.newScopes;
      for (const _ of rounds) {
        const flows = [yield* user.prove(global, chess), yield* user.prove(guild, chess)];
        yield* Effect.all([...flows.map((flow) => user.complete(flow, chess)), user.eraseAll], atOnce);
        const { records, sightings, entries } = yield* user.find;
        const pids = records.map(({ scope }) => scope.pid);
        expectEqual(new Set(sightings.map(({ pid }) => pid)), new Set(pids), "The scopes with sightings");
        expectEqual(new Set(entries.map(({ pid }) => pid)), new Set(pids), "The scopes in the audit log");
        yield* user.eraseAll;
      }
    },

  "concurrent erase: each record, sighting and entry is erased once": function* () {
    const user = yield* newUserSteps;
    const { account, global, guild } = yield* user.newScopes;
    for (const scope of [global, guild]) {
      yield* user.set(scope, chess);
      yield* user.see(scope);
    }
    const erased = yield* Effect.all(
      rounds.map(() => user.eraseAll),
      atOnce,
    );
    const sum = (what: "records" | "sightings" | "entries") =>
      erased.reduce((total, each) => total + each[what], 0);
    expectEqual([sum("records"), sum("sightings"), sum("entries")], [2, 2, 2]);
    const ends = (yield* user.entries(account.name)).filter(({ action }) => action === "user.erased");
    expectEqual(ends.length, 2);
  },

  "erase concurrent with a request: its answer remains exactly if its write remains": function* () {
    const user = yield* newUserSteps;
    const { chatId } = user;
    for (const _ of rounds) {
      const { global } = yield* user.newScopes;
      const request = newRequest({ chatIds: [chatId] });
      const commit = user.setOnce(global, chess, request);
      yield* Effect.all([commit, user.eraseAll], atOnce);
      const record = yield* user.recordOf(global);
      const found = yield* user.findRequest(request);
      expectEqual(found?.answer === null, record === null);
      yield* user.eraseAll;
    }
  },
};
