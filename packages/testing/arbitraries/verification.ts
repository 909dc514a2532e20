/** Arbitraries of verification sessions, flows and sign-ins. */
import type { VerificationSession } from "@accountlink/core";
import type { VerificationFlow } from "@accountlink/core/flow";
import type { UserGuild } from "@accountlink/core/platforms";
import type { SignInSite, SiteSignIn } from "@accountlink/core/sign_ins";
import {
  type Arbitrary,
  array,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  string,
} from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, flowId, gameId, guildId, keyId, pid, sessionId, signInId } from "./ids.ts";
import { millis, name } from "./texts.ts";

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
  redirect,
  createdAt: millis,
  /** The time from creation to expiry, in milliseconds. */
  life: nat(3_600_000).map((more) => more + 1),
}).map(
  ({ life, ...session }): VerificationSession => ({
    ...session,
    state: "pending",
    gameId: null,
    linkChanged: false,
    previousGameId: null,
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
  same: boolean(),
  after: nat(),
}).map(({ session, user, after, same, ...games }): VerificationSession => {
  const previousGameId = same ? games.gameId : games.previousGameId;
  return {
    ...session,
    state: "completed",
    chatId: session.chatId ?? user,
    gameId: games.gameId,
    previousGameId,
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
 * import { voidedFlow } from "@accountlink/core/flow";
 * import { isFinal } from "@accountlink/core/sessions";
 *
 * fc.assert(
 *   fc.property(Arbitrary.session, ({ state, gameId }) => (state === "completed") === (gameId !== null)),
 * );
 * fc.assert(fc.property(Arbitrary.session, ({ state, error }) => error === null || isFinal(state)));
 * fc.assert(fc.property(Arbitrary.flow, (flow) => voidedFlow(flow).chatId === null));
 *
 * const atDashboard = Arbitrary.signIn({ site: fc.constant("dashboard") });
 * fc.assert(fc.property(atDashboard, ({ site }) => site === "dashboard"));
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

/** A flow with no proof, with a chat proof, or with a chat and a game proof. */
export const flow: Arbitrary<VerificationFlow> = record({
  id: flowId,
  session: orNull(sessionId),
  pid,
  guildId: orNull(guildId),
  redirect,
  proofs: oneof(
    constant({ chatId: null, gameId: null, seenVersion: null }),
    record({ chatId, gameId: constant(null), seenVersion: constant(null) }),
    record({ chatId, gameId, seenVersion: nat(1_000) }),
  ),
  expiresAt: millis,
}).map(({ proofs, ...rest }) => ({ ...rest, ...proofs }));

const userGuild: Arbitrary<UserGuild> = record({ id: guildId, name: orNull(name), manager: boolean() });

/** A sign-in of a person to a site. */
export const signIn = recordOf<SiteSignIn>({
  id: signInId,
  site: constantFrom<SignInSite>("dashboard", "me"),
  chatId,
  account: orNull(name),
  guilds: orNull(array(userGuild, { maxLength: 3 })),
  createdAt: millis,
  expiresAt: millis,
});
