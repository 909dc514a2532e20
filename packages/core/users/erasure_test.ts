import { expect, it } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { Pid } from "../ids.ts";
import { addErased, type ErasedThing, nothingErased } from "./erasure_tally.ts";

const [one, two] = [Pid.make("pid_1111111111111111"), Pid.make("pid_2222222222222222")];

/** Adds the things of steps, and returns what the scopes are told, and the counts. */
const erase = (steps: ReadonlyArray<ReadonlyArray<ErasedThing>>) => {
  const told: Array<ReadonlyArray<unknown>> = [];
  let tally = nothingErased;
  for (const things of steps) {
    const tell = (pid: Pid, { reviews }: { readonly reviews: number }, entry: number | null) =>
      Effect.sync(() => {
        const count = told.push([pid, reviews, entry]);
        return entry ?? count;
      });
    tally = Effect.runSync(addErased(tally, things, tell));
  }
  return { told, total: tally.total };
};

const review = (pid: Pid) => ({ what: "reviews", pid }) as const;

it("erasures count the scopes in the same order, in whatever order a database deletes", () => {
  for (const pids of [
    [one, two],
    [two, one],
  ]) {
    expect(erase([pids.map(review)]).told.map(([pid]) => pid)).toEqual([one, two]);
  }
});

it("later steps of an erasure replace its entry, but what was written after it gets another one", () => {
  const late = { what: "entries", pid: one, sequence: 2 } as const;
  const { told, total } = erase([
    [review(one)],
    [review(one), { ...late, sequence: 0 }],
    [review(one), late],
    [{ what: "records", pid: one }],
  ]);
  expect(told).toEqual([
    [one, 1, null],
    [one, 2, 1],
    [one, 1, null],
    [one, 0, null],
  ]);
  expect(total).toEqual({ records: 1, sightings: 0, browsers: 0, reviews: 3, entries: 2, messages: 0 });
});
