/**
 * The key that a command is about.
 */
import { type KeyId, KeyStore, maskedKey } from "@accountlink/core";
import { Effect } from "effect";
import { CommandFailed } from "./report.ts";

/** The key, which must be there. */
export const findKey = Effect.fnUntraced(function* (id: KeyId, doing: "revoke" | "rotate") {
  const found = yield* (yield* KeyStore).findById(id);
  return yield* Effect.mapError(
    Effect.fromOption(found),
    () => new CommandFailed({ problem: `Cannot ${doing} ${maskedKey(id)}: there is no such key` }),
  );
});
