import { Context, Effect, FiberSet, Layer, Metric, Option, Schedule } from "effect";
import { type DataScope, guildOf } from "../data_scope.ts";
import { alikeLevels, GuildLog } from "../guild_log/mod.ts";
import type { ChatId, GameId } from "../ids.ts";
import { LinkStore } from "../links/link_store.ts";
import { PlatformRefusals, Urgency } from "../platforms/platform_refusals.ts";
import { warningOnce } from "../telemetry/warn_once.ts";
import type { Millis } from "../timestamp.ts";
import { Turns } from "../turns/mod.ts";
import { AltDetection, type AltMatch } from "./alt_detection.ts";
import { severityOf } from "./alt_score.ts";
import { type Suspect, SuspectStore } from "./suspect_store.ts";

/** A link that a user made in the flow, or a change to another account. */
interface NewLink {
  readonly scope: DataScope;
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** When the link was made. */
  readonly at: Millis;
}

/** The most links of an account that wait on a node beside one; the alts of further links are not counted. @internal */
export const mostNewLinks = 1_000;

/** How many pairs are stored of a new link. */
const mostAlike = 3;

/** While the storage or a platform does not answer, a link is counted again each minute for an hour. */
const retries = { schedule: Schedule.spaced("1 minute"), times: 60 };

const isAway = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "StoreUnavailable" || _tag === "PlatformUnavailable";

/** How long a stopping node goes on counting. */
const drainTime = "2 seconds";

const skipped = Metric.counter("accountlink_new_link_alts_skipped_total", {
  description: "New links whose alts were not counted because too many links waited",
  incremental: true,
});

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
    yield* Metric.update(skipped, 0);

    const count = Effect.fnUntraced(function* (link: NewLink) {
      const { scope, chatId, gameId } = link;
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

    const warning = yield* warningOnce("Cannot count the alts of a new link");
    const countInTurn = (link: NewLink) => {
      const { account } = link.scope;
      return turns.step(account, count(link)).pipe(
        chargeTo(account),
        Effect.provideService(Urgency, "background"),
        Effect.retry({ ...retries, while: isAway }),
        // A bot that has left its guild is no failure of the node.
        Effect.catchTag("Forbidden", () => Effect.void),
        warning,
      );
    };
    yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(running), drainTime));

    return {
      /** Counts the alts of a link in the background. */
      count: (link: NewLink): Effect.Effect<void> =>
        Effect.suspend(() => {
          const { account } = link.scope;
          if (uncountedOf(account) > mostNewLinks) return Metric.update(skipped, 1);
          uncounted.set(account, uncountedOf(account) + 1);
          const ended = Effect.sync(() => {
            uncounted.set(account, uncountedOf(account) - 1);
            if (uncountedOf(account) === 0) uncounted.delete(account);
          });
          return Effect.asVoid(FiberSet.run(running, Effect.ensuring(countInTurn(link), ended)));
        }),
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
