import { Effect } from "effect";
import { makeAskingName } from "../communities/asking_name.ts";
import { forEachLimited } from "../limited_loops.ts";
import { GamePlatform, Profiles } from "../platforms/mod.ts";
import { Secrets } from "../secrets/secrets.ts";
import { FlowAccounts, orNull } from "./flow_accounts.ts";
import { type Cookie, deadlineOf, hasExpired, withEntry } from "./flow_cookie.ts";
import type { VerificationFlow } from "./flow_store.ts";
import type { FlowSubject } from "./flow_subjects.ts";
import type { FlowEntry } from "./flow_view.ts";
import { makeUsableGameWays, neededForWay } from "./game_ways.ts";
import { HeldFlows } from "./held_flow.ts";
import { makeKnownAccounts } from "./known_accounts.ts";

export const makeView = Effect.gen(function* () {
  const secrets = yield* Secrets;
  const profiles = yield* Profiles;
  const accounts = yield* FlowAccounts;
  const held = yield* HeldFlows;
  const askingName = yield* makeAskingName;
  const { find: findKnown } = yield* makeKnownAccounts;
  const { descriptionPage } = yield* GamePlatform;
  const usableGameWays = yield* makeUsableGameWays;

  const named = Effect.fnUntraced(function* (flow: VerificationFlow | null) {
    if (flow === null || flow.named === null) return null;
    return {
      ...(yield* accounts.game(flow.named)),
      words: yield* accounts.words(flow, flow.named),
      descriptionPage: descriptionPage?.(flow.named) ?? null,
    };
  });

  /** Returns the game accounts that the chat user has proven to other communities, without the one proven here. */
  const knownTo = Effect.fnUntraced(function* (
    subject: FlowSubject,
    { chatId, gameId }: Pick<VerificationFlow, "chatId" | "gameId">,
  ) {
    const found = chatId === null ? [] : yield* findKnown(subject, chatId);
    return yield* accounts.known(found.filter(({ id }) => id !== gameId));
  });

  /** Returns the accounts that a flow has proven, and those that it could prove. */
  const accountsOf = Effect.fnUntraced(function* (flow: VerificationFlow | null, subject: FlowSubject) {
    if (flow === null) return noAccounts;
    const { pid, chatId, gameId, gameProof } = flow;
    const others = (flow.connections ?? []).filter((id) => id !== gameId);
    const { proven, ...rest } = yield* Effect.all(
      {
        proven: accounts.all(pid, chatId, gameId, subject.settings.oneChatUser),
        known: knownTo(subject, flow),
        connections: forEachLimited(others, 3, accounts.game),
        named: named(flow),
      },
      { concurrency: "unbounded" },
    );
    return { ...proven, ...rest, gameProof };
  });

  const guildOf = Effect.fnUntraced(function* ({ guildId }: FlowSubject) {
    return guildId === null ? null : ((yield* profiles.guild(guildId)) ?? { id: guildId, name: null });
  });

  const show = Effect.fnUntraced(function* (
    { entry, held: own, flow, subject }: Effect.Success<ReturnType<typeof held.enter>>,
    given: Cookie,
  ) {
    const isAlive = deadlineOf(given) !== null && !(yield* hasExpired(given));
    const cookie = given !== null && isAlive ? given : yield* held.newCookie(subject.expiresAt);
    const { guild, player, shown, usable } = yield* Effect.all(
      {
        usable: usableGameWays,
        guild: guildOf(subject),
        player: orNull(subject.gameId, accounts.game),
        shown: accountsOf(flow, subject),
      },
      { concurrency: "unbounded" },
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
      ...shown,
      player,
      ways:
        player === null ? usable.ways.filter((way) => way !== "known" || !subject.settings.freshProof) : [],
      needs: player === null ? neededForWay(usable) : null,
      csrf: yield* secrets.flowCsrf(yield* held.idOf(cookie), subject.session ?? subject.pid),
      // If the browser already has a flow, its cookie stays unchanged: with another entry, it would not find the flow.
      cookie: own === null ? withEntry(cookie, entry) : cookie,
    };
  });

  const view = Effect.fn("VerificationFlows.view")((entry: FlowEntry, given: Cookie) =>
    Effect.flatMap(held.enter(entry, given), (entered) => show(entered, given)),
  );

  return { view, show };
});

const noAccounts = {
  chat: null,
  game: null,
  replaces: null,
  takenFrom: null,
  gameProof: null,
  known: [],
  connections: [],
  named: null,
};
