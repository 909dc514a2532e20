import type { StoragePorts } from "@accountlink/core";
import { RootKeyStore } from "@accountlink/core/secrets";
import { Array as Arr, Effect, type Layer, type Scope } from "effect";
import * as FastCheck from "fast-check";
import { check } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { type Command, sequences } from "./commands.ts";
import { observe } from "./observation.ts";
import { runCommand } from "./run_command.ts";
import { onModel, outcomeOf, type StoragePropertyOptions } from "./storage_property_suite.ts";
import { newSubjects, storeSubjects } from "./subjects.ts";

export interface StorageMoveOptions extends Omit<StoragePropertyOptions, "layer"> {
  /**
   * The storages of a move. The first is empty. Each of the others holds the data of the one before, which is closed, as
   * soon as its layer is built. Runs for every sequence of commands.
   */
  readonly storages: Effect.Effect<ReadonlyArray<Layer.Layer<StoragePorts, unknown>>, never, Scope.Scope>;
}

/**
 * Tests moves between storages: random commands, some on each storage, give the answers and the final state of a model
 * that runs all of them. @internal
 */
export const storageMoveSuite = ({ name, storages, model, test, ...options }: StorageMoveOptions): void => {
  const agrees = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
    const subjects = newSubjects();
    const layers = yield* storages;
    const parts = Arr.split(commands, layers.length);
    const answers: Array<unknown> = [];
    let observed: unknown;
    for (const [index, layer] of layers.entries()) {
      const run = Effect.gen(function* () {
        if (index === 0) {
          yield* RootKeyStore.use((rootKeys) => rootKeys.adopt("wrapped"));
          yield* storeSubjects(subjects);
        }
        answers.push(...(yield* Effect.forEach(parts[index] ?? [], (each) => runCommand(subjects, each))));
        if (index === layers.length - 1) observed = yield* observe(subjects);
      });
      yield* Effect.provide(run, layer, { local: true });
    }
    const expected = yield* onModel(model, outcomeOf(subjects, [], commands, 1));
    expectEqual<unknown>({ answers, observed }, expected);
  }, Effect.scoped);
  const anySequence = FastCheck.oneof(...Object.values(sequences));
  test.it(`${name}: moved data is as before`, () => Effect.runPromise(check(anySequence, agrees, options)));
};
