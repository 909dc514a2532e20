/**
 * Tells who turned the rules of a community on when they stop without them: a private message with the cause and the way
 * to the page. One node of all works on it, the oldest. Accounts take turns, so that one whose communities all stop at
 * once delays nobody else's message.
 */
import { ChatPlatform } from "@accountlink/core";
import { hasAccepted, MemberStore } from "@accountlink/core/accounts";
import { type Community, CommunityStore, placeOf } from "@accountlink/core/communities";
import { dueUntil } from "@accountlink/core/couriers";
import { isChatId } from "@accountlink/core/ids";
import { KeyStore } from "@accountlink/core/keys";
import { type ChatChannels, Urgency } from "@accountlink/core/platforms";
import {
  type DueNotice,
  makeOldestNode,
  type PlanNotice,
  PlanNoticeStore,
  RolePlanStore,
  type SharedProblem,
} from "@accountlink/core/roles";
import { hourMs, type Millis } from "@accountlink/core/timestamp";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Clock, Effect, FiberSet, Layer, Option } from "effect";
import { Languages } from "../languages/mod.ts";
import { makeCommunity } from "./community.ts";
import { messageBody, plain, timeText } from "./message.ts";
import { sendPrivately } from "./private_message.ts";

/** How often the node looks for new problems, how long it waits after a message, and after a failed one, in milliseconds. */
const [seekInterval, pause, retryTime] = [60_000, 6_000, 300_000];

/** How many communities the node looks at before it sends the next message. */
const atOnce = 1_000;

/** How many messages without a reader the node drops before it looks again whether it is the oldest. */
const mostDropped = 100;

/** How many messages an account can be sent until those that are due are read again. */
const mostOfAccount = seekInterval / pause;

/** The problems that keep the rules from all members. */
const stopping: ReadonlySet<SharedProblem["reason"]> = new Set([
  "no_permission",
  "role_above_bot",
  "members_hidden",
]);

const stopsRules = ({ reason }: SharedProblem): boolean => stopping.has(reason);

/** Sends notices while the service runs. Does nothing on a platform without private messages. */
export const layerPlanNotices = Layer.effectDiscard(
  Effect.flatMap(ChatPlatform, ({ channels }) => (channels === undefined ? Effect.void : start(channels))),
).pipe(Layer.provide(Languages.layer));

const start = Effect.fnUntraced(function* (channels: ChatChannels) {
  const store = yield* PlanNoticeStore;
  const plans = yield* RolePlanStore;
  const tell = yield* makeTell(channels);

  /** Looks for problems that are new. Returns whether more communities wait. */
  const seek = Effect.fnUntraced(function* (at: Millis) {
    const found = yield* store.unseen(atOnce);
    for (const { pid, guildId, unseenAt } of found) {
      const { problems } = yield* plans.status({ pid, guildId });
      const told = problems.filter(stopsRules).map(({ reason, roleId }) => `${reason} ${roleId ?? ""}`);
      yield* store.setProblems({ pid, guildId, unseenAt, problems: told, at });
    }
    return found.length === atOnce;
  });

  /** The messages that are due, by account. The account that was told the longest ago is the first. */
  let round = new Map<string | null, Array<DueNotice>>();

  /** Reads the messages that are due. Accounts without any are forgotten, and new ones come first. */
  const read = Effect.fnUntraced(function* (at: Millis) {
    const found = new Map<string | null, Array<DueNotice>>();
    let last: DueNotice | null = null;
    for (;;) {
      const page: ReadonlyArray<DueNotice> = yield* store.due(at, atOnce, last);
      for (const notice of page) {
        const own = found.get(notice.account) ?? [];
        if (own.length < mostOfAccount) own.push(notice);
        found.set(notice.account, own);
      }
      last = page.at(-1) ?? null;
      if (page.length < atOnce) break;
    }
    const known = [...round.keys()].filter((account) => found.has(account));
    const newcomers = [...found.keys()].filter((account) => !round.has(account));
    round = new Map([...newcomers, ...known].map((account) => [account, found.get(account) ?? []]));
  });

  /** Takes a message of the next account, which then is the last one. */
  const take = (): DueNotice | undefined => {
    for (const [account, own] of round) {
      const notice = own.shift();
      if (notice === undefined) continue;
      round.delete(account);
      round.set(account, own);
      return notice;
    }
    return undefined;
  };

  let [seekAt, readAt, tellAt] = [0, 0, 0];
  yield* makeOldestNode("notices:", {
    problem: "Cannot tell owners that their rules have stopped",
    work: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      const isDue = (at: Millis) => at <= dueUntil(at, now, seekInterval);
      if (isDue(seekAt)) {
        seekAt = now + seekInterval;
        if (yield* seek(now)) seekAt = now;
      }
      if (!isDue(tellAt)) return;
      if (isDue(readAt) || ![...round.values()].some((own) => own.length > 0)) {
        readAt = now + seekInterval;
        yield* read(now);
      }
      for (let dropped = 0; dropped < mostDropped; dropped++) {
        const notice = take();
        if (notice === undefined) return;
        if (!(yield* tell(notice))) continue;
        tellAt = now + pause;
        return;
      }
    }),
    stop: Effect.void,
  });
});

const makeTell = Effect.fnUntraced(function* (channels: ChatChannels) {
  const store = yield* PlanNoticeStore;
  const plans = yield* RolePlanStore;
  const communities = yield* CommunityStore;
  const team = yield* MemberStore;
  const keys = yield* KeyStore;
  const languages = yield* Languages;
  const chat = yield* makeCommunity;
  const { roles } = yield* ChatPlatform;
  const { publicUrl } = yield* HttpSettings;
  const sending = yield* FiberSet.make();

  /** The member who turned the rules on, or made the key that did, and still sees the community. */
  const readerOf = Effect.fnUntraced(function* ({ pid, chatId, keyId }: PlanNotice, { scope }: Community) {
    const key = keyId === null ? Option.none() : yield* keys.findById(keyId);
    const id = chatId ?? Option.getOrNull(key)?.madeBy ?? null;
    const account = Option.getOrNull(yield* keys.findAccount(scope.account));
    if (!isChatId(id) || account?.status !== "active") return null;
    const member = (yield* team.list(scope.account)).find((each) => each.chatId === id);
    return member !== undefined && hasAccepted(member) && (member.scopes?.includes(pid) ?? true) ? id : null;
  });

  const roleName = Effect.fnUntraced(function* ({ guildId }: Community, roleId: string) {
    const found = roles === undefined ? Option.none() : yield* roles.findGuildRoles(guildId);
    const role = Option.getOrNull(found)?.roles.find(({ id }) => id === roleId);
    return plain(role?.name ?? roleId);
  });

  /** Returns the message; null if the rules have not stopped, or a person has paused them. */
  const messageOf = Effect.fnUntraced(function* (community: Community) {
    const { scope, guildId, paused } = community;
    const { problems } = yield* plans.status(placeOf(community));
    const problem = problems.find(stopsRules);
    if (paused === null ? problem === undefined : paused.why === null) return null;
    // The platform tells the language of a guild only while the bot is in it.
    const guild = Option.getOrNull(yield* channels.findChannels(guildId));
    const { find, get } = languages.dashboard;
    const language = yield* get(find(guild?.locale ?? "en") ?? "en");
    const page = `${publicUrl}/dashboard/communities/${scope.pid}/roles?guildId=${guildId}`;
    const place = {
      a: (text: ReadonlyArray<string>) => `[${text.join("")}](<${page}>)`,
      community: yield* chat.lastingName(community),
    };
    if (paused !== null && paused.why !== null)
      return language.text(`trouble.paused.${paused.why}`, { ...place, time: timeText(paused.at) });
    if (problem === undefined) return null;
    const { reason, roleId } = problem;
    const count = Math.max(1, problem.count);
    if (reason === "members_hidden") return language.text("trouble.members_hidden", { ...place, count });
    if (roleId === null) return language.text("trouble.nickname", { ...place, count });
    return language.text("trouble.role", { ...place, count, role: yield* roleName(community, roleId) });
  });

  /** Sends a notice that is due. Returns whether it asked the platform, which takes the turn. */
  return Effect.fnUntraced(
    function* (notice: PlanNotice) {
      const now = yield* Clock.currentTimeMillis;
      const done = { toldAt: notice.toldAt, dueAt: null };
      const later = (claimed: Pick<PlanNotice, "dueAt">, time: Millis) =>
        store.settle({ ...notice, ...claimed }, { ...done, dueAt: now + time });
      const found = Option.getOrNull(yield* communities.find(notice));
      const reader = found?.tellTroubles === true ? yield* readerOf(notice, found) : null;
      if (found === null || reader === null) {
        yield* store.settle(notice, done);
        return false;
      }
      const content = yield* Effect.catchTag(messageOf(found), "PlatformUnavailable", () => Effect.undefined);
      if (content === undefined || content === null) {
        yield* content === null ? store.settle(notice, done) : later(notice, retryTime);
        return content === undefined;
      }
      // Before the message, so that a node that dies does not send it twice.
      if (!(yield* store.settle(notice, { toldAt: now, dueAt: null }))) return false;
      const once = `${notice.pid.slice(-12)}${now.toString(36)}`;
      const sent = sendPrivately(channels, reader, messageBody({ content }), once).pipe(
        Effect.orElseSucceed(() => "unavailable" as const),
        Effect.tap((outcome) => {
          if (outcome !== "unavailable" && outcome !== "bot_refused") return Effect.void;
          return later({ dueAt: null }, outcome === "unavailable" ? retryTime : hourMs);
        }),
        Effect.catch(({ _tag }) => Effect.logWarning(`Cannot keep a notice to send it later: ${_tag}`)),
      );
      // An unanswered message is sent again for a minute, and the node has to say meanwhile that it lives.
      yield* FiberSet.run(sending, sent);
      return true;
    },
    Effect.uninterruptible,
    Effect.provideService(Urgency, "background"),
  );
});
