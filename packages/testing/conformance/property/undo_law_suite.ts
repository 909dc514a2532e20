import type { StoragePorts } from "@accountlink/core";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { check, type PropertyOptions } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { type SuiteOptions, suite } from "../suite.ts";
import { type Command, historyCommands } from "./commands.ts";
import { runCommand } from "./run_command.ts";
import { newSubjects, storeSubjects } from "./subjects.ts";
import type { Law } from "./undo_law.ts";
import { stateOf, undoLaws } from "./undo_laws.ts";

/**
 * Tests after random histories that an act and its undo leave the data as it was, that the undo made twice is made once, and
 * so is the act.
 */
export const undoLawSuite = (options: SuiteOptions<StoragePorts> & PropertyOptions): void =>
  suite(
    "the law of undo",
    options,
    Object.fromEntries(
      Object.entries(undoLaws).map(([name, each]: [string, Law]) => [
        name,
        check(
          FastCheck.tuple(historyCommands, FastCheck.nat()),
          ([history, seed]) => holds(each, history, seed),
          options,
        ),
      ]),
    ),
  );

const holds = Effect.fnUntraced(function* (
  { run, parts }: Law,
  history: ReadonlyArray<Command>,
  seed: number,
) {
  const subjects = newSubjects();
  yield* storeSubjects(subjects);
  yield* Effect.forEach(history, (command) => runCommand(subjects, command));
  const read = (isUndo: boolean) => Effect.forEach(parts, (part) => stateOf(subjects, part, isUndo));
  const [acting] = FastCheck.sample(run(subjects), { numRuns: 1, seed });
  if (acting === undefined) return;
  yield* acting.prepare;
  const before = yield* read(true);
  yield* acting.act(1);
  const after = yield* read(false);
  yield* acting.act(2);
  expectEqual(yield* read(false), after, "made twice");
  if (acting.undo === null) return;
  yield* acting.undo;
  expectEqual(yield* read(true), before, "undone");
  const undone = yield* read(false);
  yield* acting.undo;
  expectEqual(yield* read(false), undone, "undone twice");
});
