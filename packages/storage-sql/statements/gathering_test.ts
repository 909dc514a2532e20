import { expect, it } from "@effect/vitest";
import { Context, Effect, Exit } from "effect";
import { gathered } from "./gathering.ts";

const Asker = Context.Reference("Asker", { defaultValue: () => "nobody" });

it.effect("runs the inputs of each group together, for the first who asked", () =>
  Effect.gen(function* () {
    const ran: Array<readonly [asker: string, inputs: ReadonlyArray<string>]> = [];
    const ask = gathered<string, string, never>(
      (inputs) =>
        Effect.map(Asker, (asker) => {
          ran.push([asker, inputs]);
          return inputs.map((input) => Exit.succeed(input.toUpperCase()));
        }),
      { maxSize: 2, groupOf: (input) => input.charAt(0) },
    );
    const answers = yield* Effect.forEach(
      ["a1", "b1", "a2", "b2", "a3"],
      (input) => Effect.provideService(ask(input), Asker, `asker of ${input}`),
      { concurrency: "unbounded" },
    );
    expect(answers).toEqual(["A1", "B1", "A2", "B2", "A3"]);
    expect(ran).toEqual([
      ["asker of a1", ["a1", "a2"]],
      ["asker of a3", ["a3"]],
      ["asker of b1", ["b1", "b2"]],
    ]);
  }),
);
