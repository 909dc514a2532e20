import type { VerificationSession } from "@accountlink/core";
import { gameProofs } from "@accountlink/core/links";
import { type Arbitrary, boolean, constantFrom, nat, oneof, record, string } from "fast-check";
import { orNull } from "./fields.ts";
import { chatId, gameId, guildId, keyId, pid, sessionId } from "./ids.ts";
import { millis } from "./texts.ts";

const redirect = orNull(
  constantFrom("https://example.com/done", "https://bot.example:8443/?state=%F0%9F%94%97"),
);

const pending = record({
  id: sessionId,
  keyId,
  pid,
  clientId: string({ unit: "grapheme-ascii", minLength: 1, maxLength: 128 }),
  guildId: orNull(guildId),
  chatId: orNull(chatId),
  gameId: orNull(gameId),
  redirect,
  createdAt: millis,
  /** The time between creation and expiry, in milliseconds. */
  life: nat(3_600_000).map((more) => more + 1),
}).map(
  ({ life, ...session }): VerificationSession => ({
    ...session,
    state: "pending",
    linkChanged: false,
    previousGameId: null,
    proof: null,
    error: null,
    expiresAt: session.createdAt + life,
    completedAt: null,
    change: 1,
  }),
);

const opened = pending.map((session) => ({ ...session, state: "opened" as const, change: 2 }));

const completed = record({
  session: opened,
  user: chatId,
  gameId,
  previousGameId: orNull(gameId),
  proof: orNull(constantFrom(...gameProofs)),
  same: boolean(),
  after: nat(),
}).map(({ session, user, after, same, proof, ...games }): VerificationSession => {
  const previousGameId = same ? games.gameId : games.previousGameId;
  return {
    ...session,
    state: "completed",
    chatId: session.chatId ?? user,
    gameId: games.gameId,
    previousGameId,
    proof,
    linkChanged: previousGameId !== games.gameId,
    completedAt: session.createdAt + (after % (session.expiresAt - session.createdAt)),
    change: session.change + 1,
  };
});

const ended = (state: "failed" | "cancelled" | "expired") =>
  oneof(pending, opened).map(
    (session): VerificationSession => ({
      ...session,
      state,
      error: state === "failed" ? "link_removed" : null,
      change: session.change + 1,
    }),
  );

/**
 * A session in any state, with the fields that this state requires.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { isFinal } from "@accountlink/core/sessions";
 *
 * fc.assert(
 *   fc.property(Arbitrary.session, ({ state, gameId }) => state !== "completed" || gameId !== null),
 * );
 * fc.assert(fc.property(Arbitrary.session, ({ state, error }) => error === null || isFinal(state)));
 * ```
 */
export const session: Arbitrary<VerificationSession> = oneof(
  pending,
  opened,
  completed,
  ended("failed"),
  ended("cancelled"),
  ended("expired"),
);
