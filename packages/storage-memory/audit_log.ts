/** The audit log in memory. */
import { AuditLog } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { State } from "./internal/state.ts";

/** The log that every write of the other two ports goes to. */
export const layer: Layer.Layer<AuditLog, never, State> = Layer.effect(
  AuditLog,
  Effect.map(State, (memory) =>
    AuditLog.of({
      list: (account, before, limit) =>
        Effect.sync(() => {
          const log = memory.log.get(account) ?? [];
          const end =
            before === null ? log.length : log.findLastIndex(({ sequence }) => sequence < before) + 1;
          return log.slice(Math.max(0, end - limit), end).toReversed();
        }),
    }),
  ),
);
