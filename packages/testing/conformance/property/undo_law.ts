/**
 * The law of undo: after an act and its undo, the data is as before, whatever happened before; and an act that is made
 * twice is made once.
 */
import type { StoragePorts } from "@accountlink/core";
import type { Conflict, StoreUnavailable } from "@accountlink/core/errors";
import { Effect, Option } from "effect";
import type * as FastCheck from "fast-check";
import { type World, worldOf } from "./operation.ts";
import { type CommandSubjects, withUsers } from "./subjects.ts";

export type Step<A> = Effect.Effect<A, Conflict | StoreUnavailable, StoragePorts>;

/** The data that an act concerns. */
export type Part =
  | "links"
  | "blocks"
  | "reviews"
  | "plans"
  | "communities"
  | "settings"
  | "account"
  | "history"
  | "members"
  | "key"
  | "webhook";

/** How an act is made, and undone with what it answered the first time. */
interface Ways<Input, Done> {
  /** Makes what the act needs, after the history. */
  readonly prepare?: (world: World) => Step<unknown>;
  readonly input: FastCheck.Arbitrary<Input>;
  readonly act: (world: World, input: Input, times: 1 | 2) => Step<Done>;
  /** Left out for an act that nothing takes back. */
  readonly undo?: (world: World, input: Input, done: Done) => Step<unknown>;
  /** The parts to compare after the undo. */
  readonly parts: ReadonlyArray<Part>;
}

export interface Law {
  readonly run: (subjects: CommandSubjects) => FastCheck.Arbitrary<{
    readonly prepare: Step<void>;
    readonly act: (times: 1 | 2) => Step<void>;
    readonly undo: Step<void> | null;
  }>;
  readonly parts: ReadonlyArray<Part>;
}

/** After everything that the history did. */
export const at = 5;

export const law = <Input, Done>({ prepare, input: inputs, act, undo, parts }: Ways<Input, Done>): Law => ({
  parts,
  run: (subjects) =>
    inputs.map((chosen) => {
      const input = withUsers(subjects.users, chosen) as Input;
      const inWorld = <A>(step: (world: World) => Step<A>) => Effect.flatMap(worldOf(subjects, { at }), step);
      let done: Option.Option<Done> = Option.none();
      return {
        prepare: prepare === undefined ? Effect.void : Effect.asVoid(inWorld(prepare)),
        act: (times) =>
          Effect.map(
            inWorld((world) => act(world, input, times)),
            (answer) => {
              if (times === 1) done = Option.some(answer);
            },
          ),
        undo:
          undo === undefined
            ? null
            : Effect.suspend(() =>
                Option.match(done, {
                  onNone: () => Effect.void,
                  onSome: (first) => Effect.asVoid(inWorld((world) => undo(world, input, first))),
                }),
              ),
      };
    }),
});
