/** For tests: a scope of an account. */
import { type DataScope, Pid } from "@accountlink/core";
import type { WriteOrigin } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";

export const scope: DataScope = { kind: "global", pid: Pid.make("pid_0123456789abcdef"), account: "acme" };

export const origin = {
  actor: { type: "operator", id: "test" },
  requestId: null,
} as const satisfies WriteOrigin;

export const storeScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: scope.account, chatId: null, tier: "free" });
  yield* keys.ensureScope(scope.account, { kind: "global" }, scope.pid);
});
