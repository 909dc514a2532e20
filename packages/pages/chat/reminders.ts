/**
 * Reminds members who have not linked: one private message each, with the way to verify. One node of all works on it,
 * the oldest.
 */
import { ChatPlatform } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import {
  type Community,
  type CommunityPlace,
  CommunityStore,
  mayLink,
  placeOf,
} from "@accountlink/core/communities";
import { dueUntil } from "@accountlink/core/couriers";
import { makeUsableGameWays, neededForWay } from "@accountlink/core/flow";
import type { ChatId, GuildId } from "@accountlink/core/ids";
import { LinkStore } from "@accountlink/core/links";
import { atMostEvery } from "@accountlink/core/monotonic_millis";
import { UnlinkedMembers } from "@accountlink/core/owners";
import {
  type ChatChannels,
  makeGuildChannels,
  PlatformRefusals,
  type PrivateOutcome,
  Urgency,
} from "@accountlink/core/platforms";
import { ReminderStore, RemindersPerMinute, reminderPause } from "@accountlink/core/reminders";
import { makeGuildCheck, makeOldestNode, RolePlanStore, remindersRest } from "@accountlink/core/roles";
import { Secrets } from "@accountlink/core/secrets";
import { dayMs } from "@accountlink/core/timestamp";
import { Turns } from "@accountlink/core/turns";
import { Clock, type Duration, Effect, FiberMap, Layer, Metric, Option } from "effect";
import { Languages } from "../languages/mod.ts";
import { messageBody } from "./message.ts";
import { makePanelMessage } from "./panel.ts";
import { sendPrivately } from "./private_message.ts";

/** How long after a walk through the members of a community the next one begins, and after a failed one. */
const [again, afterFailure] = ["1 hour", "5 minutes"] as const;

/** How often the node looks for communities that remind their members, in milliseconds. */
const interval = 5_000;

const sent = Metric.counter("accountlink_reminders_total", {
  description: "Private messages to members who have not linked, by outcome",
  incremental: true,
});

/** How many communities look for the members to remind at a time. Each asks a platform, and reads all of its members. */
const looks = 4;

/** After as many refusals in a row that do not say that the member takes none, the community's reminders rest. */
const mostRefused = 3;

const waited = Metric.gauge("accountlink_reminders_wait_seconds", {
  description: "How long the last reminder waited for those of other communities, in seconds",
});

/** From which wait on a community is told that its reminders are held back, in milliseconds. */
const tellsFrom = 60_000;

/**
 * Makes the turns of all accounts, spaced so that a minute has no more than the deployment may send. The first comes after
 * a space, since a node that stopped a moment ago may have had the last. A turn returns how long its account waited.
 */
const makeTurns = Effect.gen(function* () {
  const space = 60_000 / (yield* RemindersPerMinute);
  const turns = new Turns({ resource: "reminders", places: 1 });
  let nextAt = (yield* Clock.currentTimeMillis) + space;
  const next = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis;
    // The clock may have been set back since the last turn.
    const at = Math.max(now, Math.min(nextAt, now + space));
    nextAt = at + space;
    yield* Effect.sleep(at - now);
  });
  return Effect.fnUntraced(function* (account: string) {
    const began = yield* Clock.currentTimeMillis;
    yield* turns.step(account, next);
    const wait = (yield* Clock.currentTimeMillis) - began;
    yield* Metric.update(waited, wait / 1_000);
    return wait;
  });
});

const count = (outcome: PrivateOutcome) =>
  Metric.update(
    Metric.withAttributes(sent, { outcome: outcome === "unanswered" ? "unavailable" : outcome }),
    1,
  );

const layerOf = (channels: ChatChannels) =>
  Effect.gen(function* () {
    const communities = yield* CommunityStore;
    const { chargeTo } = yield* PlatformRefusals;
    const remind = yield* makeRemind(channels);
    const seldom = atMostEvery(interval);
    const walks = yield* FiberMap.make<string>();

    /** Begins to remind in the communities that want it. A changed number of days begins anew. */
    const begin = Effect.gen(function* () {
      const found = yield* communities.reminding();
      const wanted = new Map(
        found.map((each): [string, Community] => [`${nameOf(each)} ${each.remindAfterDays}`, each]),
      );
      for (const [key] of walks) if (!wanted.has(key)) yield* FiberMap.remove(walks, key);
      for (const [key, community] of wanted) {
        const walk = remind(community).pipe(
          chargeTo(community.scope.account),
          Effect.provideService(Urgency, "background"),
          Effect.as<Duration.Input>(again),
          Effect.catch((error) =>
            Effect.as(
              Effect.logWarning(`Cannot remind the members of a community: ${error._tag}`),
              afterFailure,
            ),
          ),
          Effect.flatMap(Effect.sleep),
        );
        yield* FiberMap.run(walks, key, walk, { onlyIfMissing: true });
      }
    });
    yield* makeOldestNode("reminders:", {
      problem: "Cannot choose the node that reminds members",
      work: seldom(begin),
      stop: FiberMap.clear(walks),
    });
  });

/** `layerReminders`, in languages that the caller provides. */
export const layerRemindersIn = Layer.effectDiscard(
  Effect.flatMap(ChatPlatform, ({ channels }) => (channels === undefined ? Effect.void : layerOf(channels))),
);

/** Sends reminders while the service runs. Does nothing on a platform without private messages. */
export const layerReminders = Layer.provide(layerRemindersIn, Languages.layer);

const nameOf = ({ scope, guildId }: Community): string => `${scope.pid} ${guildId}`;

const makeRemind = Effect.fnUntraced(function* (channels: ChatChannels) {
  const store = yield* ReminderStore;
  const plans = yield* RolePlanStore;
  const communities = yield* CommunityStore;
  const links = yield* LinkStore;
  const blocks = yield* BlockStore;
  const { findMember } = yield* ChatPlatform;
  const unlinked = yield* UnlinkedMembers;
  const { blockHash, reminderHash } = yield* Secrets;
  const { isManaged } = yield* makeGuildCheck;
  const { findChannels } = yield* makeGuildChannels;
  const languages = yield* Languages;
  const panelOf = yield* makePanelMessage;
  const usableGameWays = yield* makeUsableGameWays;
  const takeTurn = yield* makeTurns;
  const looking = new Turns({ resource: "reminders", places: looks });

  const dueIn = Effect.fnUntraced(function* ({ scope, guildId, remindAfterDays }: Community) {
    const before = (yield* Clock.currentTimeMillis) - (remindAfterDays ?? 0) * dayMs;
    return yield* unlinked.toRemind(scope, guildId, before);
  });

  /** Returns whether a member is still in the guild, not linked and not blocked. A walk may take hours. */
  const isDue = Effect.fnUntraced(function* ({ scope, guildId }: Community, chatId: ChatId) {
    if ((yield* links.findGamesByChatIds(scope.pid, [chatId])).has(chatId)) return false;
    const hash = yield* blockHash(scope.pid, { chatId, gameId: null });
    if ((yield* blocks.findHashes(scope.pid, [hash])).has(hash)) return false;
    return Option.isSome(yield* findMember(guildId, chatId));
  });

  /** Returns whether a community still reminds its members after as many days, and is the home of its guild. */
  const isWanted = ({ scope, guildId, remindAfterDays }: Community) =>
    Effect.map(
      communities.findHome(guildId),
      Option.exists(
        (home) => home.scope.pid === scope.pid && home.remindAfterDays === remindAfterDays && mayLink(home),
      ),
    );

  const claim = Effect.fnUntraced(function* (place: CommunityPlace, hash: string) {
    for (;;) {
      const at = yield* Clock.currentTimeMillis;
      const outcome = yield* store.claim({ ...place, hash, at });
      if (outcome !== "early") return outcome === "claimed";
      yield* Effect.sleep(reminderPause / 5);
    }
  });

  /** The panel's sentence and link, in the language of the guild. */
  const messageOf = Effect.fnUntraced(function* (community: Community) {
    const { locale } = yield* findChannels(community.guildId);
    const language = yield* languages.ofLocale(locale);
    const { buttons = [], ...message } = yield* panelOf(community, null, language);
    return messageBody({ ...message, buttons: buttons.filter((button) => "url" in button) });
  });

  /** Makes a function that tells a community whether its reminders are held back, while they are and when they no longer are. */
  const makeTellHeld = (place: CommunityPlace) => {
    let [isHeld, toldAt] = [undefined as boolean | undefined, 0];
    return Effect.fnUntraced(function* (wait: number) {
      const now = yield* Clock.currentTimeMillis;
      if (isHeld === wait >= tellsFrom && (!isHeld || now < toldAt + remindersRest / 2)) return;
      [isHeld, toldAt] = [wait >= tellsFrom, now];
      yield* plans.setProblem(place, "reminders_held", isHeld ? now : null);
    });
  };

  /** The time before which nothing is sent, since the platform refuses all private messages of the bot. */
  let botRestsUntil = 0;
  /** The time before which nothing is sent to members of a guild, whichever list reminds them. */
  const restsUntil = new Map<GuildId, number>();

  const hasRested = Effect.fnUntraced(function* (guildId: GuildId) {
    const now = yield* Clock.currentTimeMillis;
    const until = Math.max(botRestsUntil, restsUntil.get(guildId) ?? 0);
    if (until > dueUntil(until, now, remindersRest)) return false;
    restsUntil.delete(guildId);
    return true;
  });

  const look = Effect.fnUntraced(function* (community: Community) {
    if (!(yield* hasRested(community.guildId)) || !(yield* isManaged(community))) return null;
    if (neededForWay(yield* usableGameWays) === "session") return null;
    return { body: yield* messageOf(community), due: yield* dueIn(community) };
  });

  return Effect.fnUntraced(function* (community: Community) {
    const { scope, guildId } = community;
    const found = yield* looking.step(scope.account, look(community));
    if (found === null) return;
    const { body, due } = found;
    const place = placeOf(community);
    let refused = 0;
    const tellHeld = makeTellHeld(place);
    const startRest = Effect.fnUntraced(function* (isOfBot: boolean) {
      const now = yield* Clock.currentTimeMillis;
      if (isOfBot) botRestsUntil = now + remindersRest;
      // Guilds that are reminded no longer are not asked again whether they have rested.
      for (const [other, until] of restsUntil) if (until <= now) restsUntil.delete(other);
      restsUntil.set(guildId, now + remindersRest);
      yield* plans.setProblem(place, "reminders_refused", now);
      yield* Effect.logWarning("The platform refuses reminders: they rest for an hour");
    });
    for (const chatId of due) {
      const hash = yield* reminderHash(guildId, chatId);
      yield* tellHeld(yield* takeTurn(scope.account));
      if (!(yield* hasRested(guildId)) || !(yield* isWanted(community))) return;
      if (!(yield* isDue(community, chatId)) || !(yield* claim(place, hash))) continue;
      // A claim without its message would leave the member without any. One that is unanswered is kept, since two are worse.
      const outcome = yield* Effect.uninterruptible(
        sendPrivately(channels, chatId, body, hash.slice(0, 24)).pipe(
          Effect.tapError(() => Effect.andThen(count("unanswered"), store.release(place, hash))),
          Effect.tap((answer) => (answer === "bot_refused" ? store.release(place, hash) : Effect.void)),
        ),
      );
      yield* count(outcome);
      // A refusal concerns its member alone: the service does not ask again, and other members get their reminders.
      if (outcome === "refused") refused++;
      if (outcome === "sent" || outcome === "closed") refused = 0;
      if (outcome === "sent") yield* plans.setProblem(place, "reminders_refused", null);
      if (outcome === "bot_refused" || refused >= mostRefused)
        return yield* startRest(outcome === "bot_refused");
      // From the message on: a slow store may have answered the claim late.
      yield* Effect.sleep(reminderPause);
    }
    yield* tellHeld(0);
  });
});
