/** `AuditLog` in memory. */
import { AuditLog } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { State } from "../state.ts";

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

      forget: (before) =>
        Effect.sync(() => {
          let forgotten = 0;
          for (const [account, log] of memory.log) {
            const kept = log.filter(({ at }) => at >= before);
            forgotten += log.length - kept.length;
            memory.log.set(account, kept);
          }
          return forgotten;
        }),
    }),
  ),
);
