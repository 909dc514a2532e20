import { Clock, Effect } from "effect";
import { SecureRandom } from "effect/crypto";
import { makeAskingName } from "../communities/asking_name.ts";
import { Profiles } from "../platforms/profiles.ts";
import { Secrets } from "../secrets/secrets.ts";
import { makeFlowAccounts } from "./flow_accounts.ts";
import { type Cookie, deadlineOf, makeFlowId, newCookie, withEntry } from "./flow_cookie.ts";
import { type FlowSubject, FlowSubjects } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { belongsTo, makeFindFlow } from "./held_flow.ts";
import type { VerificationFlow } from "./verification_flow.ts";

export const makeView = Effect.gen(function* () {
  const subjects = yield* FlowSubjects;
  const secrets = yield* Secrets;
  const profiles = yield* Profiles;
  const accounts = yield* makeFlowAccounts;
  const random = yield* SecureRandom.SecureRandom;
  const askingName = yield* makeAskingName;
  const findFlow = yield* makeFindFlow;
  const idOf = yield* makeFlowId;

  /**
   * Anyone with the `pid` of a global scope can name any guild, and platforms block bots that request guilds they are
   * not in. So the platform is asked only about a guild that a key or a proven member named.
   */
  const guildOf = Effect.fnUntraced(function* (
    { sid, scope, guildId }: FlowSubject,
    flow: VerificationFlow | null,
  ) {
    if (guildId === null) return null;
    const isTrusted = sid !== null || scope.kind === "guild" || (flow !== null && flow.chatId !== null);
    return (isTrusted ? yield* profiles.guild(guildId) : null) ?? { id: guildId, name: null };
  });

  return Effect.fn("VerificationFlows.view")(function* (entry: FlowEntry, given: Cookie) {
    const subject = yield* subjects.resolve(entry);
    const held = yield* findFlow(given);
    const flow = held !== null && belongsTo(held, subject) ? held : null;
    const isAlive = (deadlineOf(given) ?? 0) > (yield* Clock.currentTimeMillis);
    const cookie = given !== null && isAlive ? given : yield* newCookie(random, subject.expiresAt);
    const { guild, proven } = yield* Effect.all(
      {
        guild: guildOf(subject, flow),
        proven: accounts.all(subject.pid, flow?.chatId ?? null, flow?.gameId ?? null),
      },
      { concurrency: 2 },
    );
    return {
      entry,
      sid: subject.sid,
      asking: yield* askingName(subject.scope, {
        displayName: subject.settings.displayName,
        guildName: guild?.name ?? null,
      }),
      supportUrl: subject.settings.supportUrl,
      redirect: subject.redirect,
      expiresAt: (flow ?? subject).expiresAt,
      guild,
      ...proven,
      csrf: yield* secrets.flowCsrf(yield* idOf(cookie), subject.session ?? subject.pid),
      // If the browser already has a flow, its cookie stays unchanged: with another entry, it would not find the flow.
      cookie: held === null ? withEntry(cookie, entry) : cookie,
    };
  });
});
