/** What is told of a storage as a whole: whether it may be used, and what a move of its data did. */
import { Context, Data, Duration, Effect, Schedule } from "effect";
import type { StoreEffect } from "./errors.ts";
import type { Rest } from "./storage_use.ts";

/** Returns why the storage must not be used although it answers; null if it may be. Readiness asks. @internal */
export const StorageFault = Context.Reference<StoreEffect<string | null>>("@accountlink/core/StorageFault", {
  defaultValue: () => Effect.succeed(null),
});

/** Says that the schema of a storage is ahead of this release. @internal */
export const schemaAhead = ({
  version,
  known,
}: {
  readonly version: number;
  readonly known: number;
}): string => `its schema is version ${version}, expected ${known} or lower`;

/** A newer release has changed the layout of the data. Nothing was changed. @internal */
export class StorageTooNew extends Data.TaggedError("StorageTooNew")<{
  readonly version: number;
  readonly known: number;
}> {
  readonly code = "DATABASE_TOO_NEW";
  readonly details = { version: this.version, known: this.known };
  readonly reason = `${schemaAhead(this)}: a newer release migrated it`;
  override readonly message = `Cannot use the storage: ${this.reason}`;
}

const moveRefusals = {
  emptySource: "the source is empty, expected the data of a server",
  halfSource: "a move into the source is not finished, expected the same accountlink move again, to its end",
  otherMove: "another move into the target runs or has ended",
  erasing: "the erasure of a user is not finished, expected a server to end it first",
  changing: "somebody writes to the source, expected stopped servers",
  finished: "it was moved there before, expected servers on the target",
  usedTarget: "the target holds data, expected an empty one",
  otherTarget: "the target has part of another storage, expected an empty one",
};

/** The target of a move holds data, or the source is not what a move expects. @internal */
export class MoveRefused extends Data.TaggedError("MoveRefused")<{ readonly reason: string }> {
  override readonly message = `Cannot move the data: ${this.reason}`;

  /** Refuses what no kind of move takes. */
  static of(refusal: keyof typeof moveRefusals): MoveRefused {
    return new MoveRefused({ reason: moveRefusals[refusal] });
  }
}

/** What a storage holds before anything is written to it. @internal */
export interface FoundStorage {
  /** The wrapped root key; null before its creation. */
  readonly rootKey: string | null;
  readonly rest: Rest | null;
  readonly isHalfMoved: boolean;
}

/** Why nothing may use a storage; null if it may be used. @internal */
export const refusalOf = ({ isHalfMoved }: Pick<FoundStorage, "isHalfMoved">): string | null =>
  isHalfMoved ? "a move into it is not finished, expected the same accountlink move again, to its end" : null;

/** A storage must not be used. Nothing was changed. @internal */
export class StorageRefused extends Data.TaggedError("StorageRefused")<{ readonly reason: string }> {
  readonly code = "STORAGE_REFUSED";
  readonly details = null;
  override readonly message = `Cannot use the storage: ${this.reason}`;
}

/** Judges a storage before anything is written to it. @internal */
export const StorageCheck = Context.Reference<(found: FoundStorage) => Effect.Effect<void, StorageRefused>>(
  "@accountlink/core/StorageCheck",
  {
    defaultValue: () => (found) => {
      const reason = refusalOf(found);
      return reason === null ? Effect.void : Effect.fail(new StorageRefused({ reason }));
    },
  },
);

/** Asks a storage until it is available. Logs one warning if it has to wait. @internal */
export const waitForStorage = <A, E, R>(
  asked: Effect.Effect<A, E, R>,
  { startTimeout = 0 }: { readonly startTimeout?: Duration.Input },
  describe: (error: E) => string,
  isTransient: (error: E) => boolean = () => true,
): Effect.Effect<A, E, R> => {
  const timeout = Duration.fromInputUnsafe(startTimeout);
  const schedule = Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: timeout }));
  return Effect.catchIf(
    asked,
    (error) => isTransient(error) && !Duration.isZero(timeout),
    (error) =>
      Effect.logWarning(`Waiting up to ${Duration.format(timeout)}: ${describe(error)}`).pipe(
        Effect.andThen(Effect.retry(asked, { schedule, while: isTransient })),
      ),
  );
};

/** What a move between two storages copied, and where they differ at its end. @internal */
export interface Moved {
  /** The number of records of each table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly different: ReadonlyArray<{
    readonly table: string;
    readonly source: number;
    readonly target: number;
  }>;
}
