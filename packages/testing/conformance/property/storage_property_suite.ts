import type { Conflict, StoragePorts, StoreUnavailable } from "@accountlink/core";
import { Effect, Equal, Formatter, type Layer } from "effect";
import * as FastCheck from "fast-check";
import { check, type PropertyOptions } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { type SuiteOptions, suite } from "../suite.ts";
import { anyCommand, type Command, sequences, verifications } from "./commands.ts";
import { type Observation, observe } from "./observation.ts";
import { runCommand } from "./run_command.ts";
import { type CommandSubjects, newSubjects, storeSubjects } from "./subjects.ts";

export interface StoragePropertyOptions extends SuiteOptions<StoragePorts>, PropertyOptions {
  /** The model, such as `StorageMemory.layer`. Every run builds this layer again and expects an empty store. */
  readonly model: Layer.Layer<StoragePorts>;
}

/**
 * Tests a store against a model. Sequential commands must give the answers and the final state of the model;
 * concurrent commands must give the model's answers for some order of the commands.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/memory";
 * import { StorageSql } from "@accountlink/sql";
 * import * as test from "vitest";
 *
 * const layer = StorageSql.layerEmbedded({ folder: "property-data" });
 * storagePropertySuite({ name: "Embedded", layer, model: StorageMemory.layer, runs: 5, test });
 * ```
 */
export const storagePropertySuite = (options: StoragePropertyOptions): void =>
  suite("storage compared with a model", options, {
    ...Object.fromEntries(
      Object.entries(sequences).map(([subject, commands]) => [
        `sequential commands agree with the model: ${subject}`,
        check(commands, (each) => agreesInOrder(options.model, each), options),
      ]),
    ),

    "concurrent commands agree with the model in some order": check(
      FastCheck.record({
        before: verifications(8),
        atOnce: FastCheck.array(anyCommand, { minLength: 2, maxLength: 4 }),
      }),
      (commands) => agreesInSomeOrder(options.model, commands),
      options,
    ),
  });

interface Outcome {
  readonly answers: ReadonlyArray<unknown>;
  readonly observed: Observation;
}

const agreesInOrder = Effect.fnUntraced(function* (
  model: Layer.Layer<StoragePorts>,
  commands: ReadonlyArray<Command>,
) {
  const subjects = newSubjects();
  const actual = yield* outcomeOf(subjects, [], commands, 1);
  expectEqual(actual, yield* onModel(model, outcomeOf(subjects, [], commands, 1)));
});

const agreesInSomeOrder = Effect.fnUntraced(function* (
  model: Layer.Layer<StoragePorts>,
  { before, atOnce }: { readonly before: ReadonlyArray<Command>; readonly atOnce: ReadonlyArray<Command> },
) {
  const subjects = newSubjects();
  const actual = yield* outcomeOf(subjects, before, atOnce, "unbounded");
  for (const order of permutations(atOnce.map((_, i) => i))) {
    const inOrder = order.map((i) => atOnce[i] as Command);
    const serial = yield* onModel(model, outcomeOf(subjects, before, inOrder, 1));
    const answers = atOnce.map((_, i) => serial.answers[order.indexOf(i)]);
    if (Equal.equals(unordered(actual), unordered({ ...serial, answers }))) return;
  }
  expectThat(false, `some order of the commands explains ${Formatter.format(actual)}`);
});

/** What commands answer, and what can be read after them. @internal */
export const outcomeOf = (
  subjects: CommandSubjects,
  before: ReadonlyArray<Command>,
  commands: ReadonlyArray<Command>,
  concurrency: number | "unbounded",
): Effect.Effect<Outcome, Conflict | StoreUnavailable, StoragePorts> =>
  Effect.gen(function* () {
    yield* storeSubjects(subjects);
    yield* Effect.forEach(before, (command) => runCommand(subjects, command));
    const answers = yield* Effect.forEach(commands, (command) => runCommand(subjects, command), {
      concurrency,
    });
    return { answers, observed: yield* observe(subjects) };
  });

/** Runs an effect on a new model. @internal */
export const onModel = <A, E>(
  model: Layer.Layer<StoragePorts>,
  effect: Effect.Effect<A, E, StoragePorts>,
): Effect.Effect<A, E> => Effect.provide(effect, model, { local: true });

/** Converts the audit entries of an outcome to a set, since independent changes may be logged in any order. */
const unordered = ({ answers, observed }: Outcome) => ({
  answers,
  observed: { ...observed, entries: new Set(Object.values(observed.entries).flat()) },
});

const permutations = (items: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> =>
  items.length === 0
    ? [[]]
    : items.flatMap((first) =>
        permutations(items.filter((item) => item !== first)).map((rest) => [first].concat(rest)),
      );
