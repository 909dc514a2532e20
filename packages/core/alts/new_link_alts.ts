import { Clock, Context, Effect, FiberSet, Layer, Option } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import { alikeLevels, GuildLog } from "../guild_log/mod.ts";
import { LinkStore } from "../links/link_store.ts";
import { PlatformRefusals, Urgency } from "../platforms/platform_refusals.ts";
import { sweepEvery, warningOnce } from "../telemetry/warn_once.ts";
import { dayMs } from "../timestamp.ts";
import { Turns } from "../turns/mod.ts";
import { AltDetection, type AltMatch } from "./alt_detection.ts";
import { severityOf } from "./alt_score.ts";
import { type NewLink, type Suspect, SuspectStore } from "./suspect_store.ts";

/** The most links of an account that wait on a node beside one. Further ones wait in the storage. @internal */
export const mostNewLinks = 1_000;

/** How many pairs are stored of a new link. */
const mostAlike = 3;

/** In milliseconds, how long a node has for a link before another one, or the same after a failure, takes it. */
const leaseTime = 60_000;

/** How many links are taken a minute that the node which made them has not counted. */
const mostTaken = 100;

/** Stores the likely alts of new links, and tells the logs of communities about them. @internal */
export class NewLinkAlts extends Context.Service<NewLinkAlts>()("@accountlink/core/NewLinkAlts", {
  make: Effect.gen(function* () {
    const { detect } = yield* AltDetection;
    const { chargeTo } = yield* PlatformRefusals;
    const suspects = yield* SuspectStore;
    const links = yield* LinkStore;
    const log = yield* GuildLog;
    const turns = new Turns({ resource: "new_link_alts", places: 1 });
    /** How many links of each account this node has not counted yet. */
    const uncounted = new Map<string, number>();
    const uncountedOf = (account: string) => uncounted.get(account) ?? 0;
    const running = yield* FiberSet.make();

    const tellAlike = Effect.fnUntraced(function* (scope: DataScope, link: NewLink) {
      const { chatId, gameId } = link;
      const query = { chatId, gameId: null, address: null };
      const options = { guildId: guildOf(scope), resolved: false, unknownMembers: "leave out" } as const;
      const { matches, risk } = yield* detect(scope, query, options);
      const level = alikeLevels.find((each) => each === risk.severity);
      if (level === undefined) return;
      yield* suspects.add(scope.pid, suspectsIn(matches, link));
      // The user may have been erased or unlinked since.
      const record = Option.getOrNull(yield* links.findByChatId(scope.pid, chatId));
      if (record?.gameId === gameId) yield* log.tell(scope, { is: "alike", chatId, gameId, level });
    });

    /** Counts the alts of a link. A link that cannot be counted now is due again after the lease. */
    const countOnce = Effect.fnUntraced(function* (scope: DataScope, found: NewLink) {
      const now = yield* Clock.currentTimeMillis;
      const link = { ...found, dueAt: now + leaseTime };
      if (!(yield* suspects.settleLink(found, link.dueAt))) return;
      // A bot that has left its guild is no failure of the node.
      if (now - link.at < dayMs)
        yield* Effect.catchTag(tellAlike(scope, link), "Forbidden", () => Effect.void);
      yield* suspects.settleLink(link, null);
    });

    const warning = yield* warningOnce("Cannot count the alts of a new link");
    const countInTurn = (scope: DataScope, link: NewLink) =>
      turns
        .step(scope.account, countOnce(scope, link))
        .pipe(chargeTo(scope.account), Effect.provideService(Urgency, "background"), warning);

    const count = (scope: DataScope, link: NewLink): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { account } = scope;
        if (uncountedOf(account) > mostNewLinks) return Effect.void;
        uncounted.set(account, uncountedOf(account) + 1);
        const ended = Effect.sync(() => {
          uncounted.set(account, uncountedOf(account) - 1);
          if (uncountedOf(account) === 0) uncounted.delete(account);
        });
        return Effect.asVoid(FiberSet.run(running, Effect.ensuring(countInTurn(scope, link), ended)));
      });

    // Links whose node has ended, was too busy, or did not reach the storage or a platform.
    yield* sweepEvery(leaseTime, "Cannot look for new links without a count of alts", (now) =>
      Effect.flatMap(
        suspects.dueLinks(now - leaseTime, mostTaken),
        Effect.forEach(({ scope, ...link }) => count(scope, link), { discard: true }),
      ),
    );

    return {
      /** Counts the alts of a link that was stored a moment ago. */
      count: (scope: DataScope, link: Pick<NewLink, "chatId" | "gameId" | "at">) =>
        count(scope, { ...link, pid: scope.pid, dueAt: link.at }),
    };
  }),
}) {
  static readonly layer = Layer.effect(NewLinkAlts, NewLinkAlts.make).pipe(Layer.provide(AltDetection.layer));
}

/** Returns the pairs with the highest scores, of the user of a new link and a likely alt. */
const suspectsIn = (
  matches: ReadonlyArray<AltMatch>,
  { chatId, gameId, at }: NewLink,
): ReadonlyArray<Suspect> =>
  matches
    .map(({ chatId: otherChatId, weight, evidence }) => ({
      chatId,
      gameId,
      otherChatId,
      at,
      score: Math.round(100 * weight),
      evidence,
    }))
    .filter(({ score }) => alikeLevels.some((level) => level === severityOf(score)))
    .toSorted((one, other) => other.score - one.score)
    .slice(0, mostAlike);
