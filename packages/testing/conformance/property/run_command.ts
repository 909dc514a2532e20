import type { Conflict, StoragePorts, StoreUnavailable } from "@accountlink/core";
import { Effect, Option } from "effect";
import { type Operation, worldOf } from "./operation.ts";
import { type Command, storageOperations } from "./storage_operations.ts";
import { type CommandSubjects, withUsers } from "./subjects.ts";

/** Runs a command. An absent answer becomes null, a map becomes sorted entries, and a defect becomes `refused`. */
export const runCommand = (
  subjects: CommandSubjects,
  { op, ...input }: Command,
): Effect.Effect<unknown, Conflict | StoreUnavailable, StoragePorts> => {
  const { run } = storageOperations[op] as Operation<unknown>;
  return worldOf(subjects, input).pipe(
    Effect.flatMap((world) => run(world, withUsers(subjects.users, input))),
    Effect.map(plain),
    Effect.catchDefect(() => Effect.succeed("refused")),
  );
};

export const plain = (answer: unknown): unknown => {
  if (Option.isOption(answer)) return Option.getOrNull(answer);
  return answer instanceof Map
    ? [...answer].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
    : answer;
};
