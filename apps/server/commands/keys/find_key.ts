import type { KeyId } from "@accountlink/core";
import { KeyStore, maskedKey } from "@accountlink/core/keys";
import { Effect } from "effect";
import { CommandFailed } from "../../cli/report.ts";

export type Doing = "disable" | "enable" | "revoke" | "rotate";

export const findKey = Effect.fnUntraced(function* (id: KeyId, doing: Doing) {
  const found = yield* (yield* KeyStore).findById(id);
  return yield* Effect.mapError(
    Effect.fromOption(found),
    () => new CommandFailed({ problem: `Cannot ${doing} ${maskedKey(id)}: there is no such key` }),
  );
});
