import { deadline, makeSession, uniqueKeyId, uniquePid } from "@accountlink/testing";
import { expect, it } from "vitest";
import { advancedSession, canAdvance, type SessionState } from "./session_store.ts";

const session = makeSession({
  id: uniqueKeyId(),
  scope: { kind: "global", pid: uniquePid(), account: "acme" },
});

it("a session that has not ended can be opened once and cancelled before its deadline, and expires at it", () => {
  const states: ReadonlyArray<SessionState> = [
    "pending",
    "opened",
    "cancelled",
    "expired",
    "completed",
    "failed",
  ];
  const allowed = states.flatMap((state) =>
    (["opened", "cancelled", "expired"] as const).flatMap((to) =>
      [-1, 0]
        .filter((late) => canAdvance({ ...session, state }, to, deadline + late))
        .map((late) => `${state} → ${to} at ${late}`),
    ),
  );
  expect(allowed).toEqual([
    "pending → opened at -1",
    "pending → cancelled at -1",
    "pending → expired at 0",
    "opened → cancelled at -1",
    "opened → expired at 0",
  ]);
  expect(advancedSession(session, "opened")).toEqual({ ...session, state: "opened", change: 2 });
});
