/** For tests: nodes that apply role plans to a guild of 250 members. */
import { PlatformMemory } from "@accountlink/memory";
import { testWith } from "@accountlink/test-servers/effect";
import { aGameUser, aMember, uniqueText } from "@accountlink/testing";
import { Clock, Effect, Layer, Option } from "effect";
import { TestClock } from "effect/testing";
import { PlatformUnavailable } from "../../errors.ts";
import { LinkWriter } from "../../links/link_writer.ts";
import type { ChatRoles } from "../../platforms/chat_platform.ts";
import { ChatPlatform, RoleRefused } from "../../platforms/chat_platform.ts";
import { GamePlatform, type GroupPage, usualFeatures } from "../../platforms/game_platform.ts";
import type { GameProfile } from "../../platforms/profile.ts";
import {
  chatId,
  gameId,
  guildId,
  operator,
  platform,
  scopes,
  servicesOn,
  startNodeOn,
} from "../../test_services.ts";
import { MemberSync } from "../member_sync.ts";
import { makePlanPreviews } from "../plan_previews.ts";
import { type ChosenSettings, noPlan, type PlanSettings } from "../role_plan.ts";
import { RolePlanStore } from "../role_plan_store.ts";
import { RolePlans } from "../role_plans.ts";
import { RoleCouriers } from "./role_couriers.ts";

export const verified = "1";
export const guest = "2";

export interface Change {
  readonly node: string;
  readonly what: "add" | "remove" | "nickname";
  readonly chatId: string;
  readonly value: string | null;
  readonly at: number;
}

const inGroup = (id: number, rank = 1) => ({
  id,
  name: null,
  memberCount: null,
  hasVerifiedBadge: null,
  role: { id: rank, name: "Fan", rank },
});

export const memberIds = Array.from({ length: 250 }, (_, index) => String(20_001 + index));

const guildOf = (ids: ReadonlyArray<string>) => ({
  id: guildId,
  name: "Engine Room",
  bot: true,
  roles: [
    { id: "9", name: "Officer", assignable: false },
    { id: verified, name: "Verified", assignable: true },
    { id: guest, name: "Guest", assignable: true },
    { id: "10", name: "Member of the group", assignable: true },
  ],
  members: ids.map((id, index) => aMember(id, { manager: index === 0 })),
});

/** Game users 1 to 9, 101 to 250 in the group 9, 299 with an age, 300 in the group 8, 301 with several ranks. */
const gameUsers = [
  ...platform.gameUsers,
  ...Array.from({ length: 150 }, (_, i) => aGameUser(String(101 + i), { groups: [inGroup(9)] })),
  aGameUser("299", { created: "1960-01-01T00:00:00.000Z" }),
  aGameUser("300", { groups: [inGroup(8)] }),
  aGameUser("301", { groups: [inGroup(8, 1), inGroup(8, 10), inGroup(8, 200)] }),
];

export const usual: PlanSettings = {
  ...noPlan,
  rules: [
    { roleId: verified, when: { is: "linked" }, nickname: null },
    { roleId: guest, when: { is: "unlinked" }, nickname: null },
  ],
  state: "on",
};

/** A deployment with a platform that tests can watch and make fail. */
export const deployment = Effect.gen(function* () {
  const chat = yield* ChatPlatform;
  const memory = chat.roles as ChatRoles;
  const changes: Array<Change> = [];
  const broken = {
    isDown: false,
    hasBot: true,
    areMembersHidden: false,
    isCountLost: false,
    /** Changes a page of the members of a group. */
    membersPage: (page: GroupPage) => page,
    areGroupsClosed: false,
    areAgesHidden: false,
    isPassGone: false,
    managers: (_: string) => true,
    unanswered: new Set<string>(),
    gone: new Set<string>(),
    /** The platform refuses every role and nickname of these members. */
    refused: new Set<string>(),
    retryAfterMs: null as number | null,
    /** Runs when a page of members has been read, before the answer arrives. */
    afterPage: Effect.void,
  };
  let requests = 0;

  const ask = <A, E>(user: string | null, request: Effect.Effect<A, E>) =>
    Effect.suspend((): Effect.Effect<A, E | PlatformUnavailable> => {
      requests++;
      const isBroken = broken.isDown || (user !== null && broken.unanswered.has(user));
      const limited = broken.retryAfterMs === null ? {} : { retryAfterMs: broken.retryAfterMs };
      return isBroken
        ? Effect.fail(new PlatformUnavailable({ operation: "ChatRoles", ...limited }))
        : request;
    });
  const change =
    (what: Change["what"], node: string) =>
    <A, E>(user: string, value: string | null, request: Effect.Effect<A, E>) =>
      ask(
        user,
        Effect.tap(Effect.delay(request, "20 millis"), () =>
          Effect.map(Clock.currentTimeMillis, (at) => changes.push({ node, what, chatId: user, value, at })),
        ),
      );

  const gamePlatform = yield* GamePlatform;
  /** The questions about groups and profiles of the game platform. */
  const asked: Array<string> = [];
  const watchedGame = GamePlatform.of({
    ...gamePlatform,
    features: Effect.sync(() => ({ ...usualFeatures, ages: !broken.areAgesHidden })),
    findProfile: (id, parts, groupIds = []) =>
      Effect.suspend(() => {
        asked.push(`user ${id}`);
        const withNeeded = Option.map<GameProfile, GameProfile>((profile) => ({
          ...profile,
          groups: broken.areGroupsClosed
            ? null
            : (profile.groups ?? []).filter((group) => groupIds.includes(String(group.id))),
        }));
        return Effect.map(gamePlatform.findProfile(id, parts, groupIds), withNeeded);
      }),
    findGroup: (id) =>
      broken.areGroupsClosed || gamePlatform.findGroup === undefined
        ? Effect.fail(new PlatformUnavailable({ operation: "GamePlatform.findGroup" }))
        : Effect.map(
            gamePlatform.findGroup(id),
            Option.map((group) => (broken.isCountLost ? { ...group, memberCount: 0 } : group)),
          ),
    hasItem: (id, item) =>
      Effect.suspend(() => {
        asked.push(`item of ${id}`);
        return broken.isPassGone || gamePlatform.hasItem === undefined
          ? Effect.succeed("no_item" as const)
          : gamePlatform.hasItem(id, item);
      }),
    groupMembers: (id, cursor) =>
      Effect.suspend(() => {
        asked.push(`group ${id}`);
        const unavailable = new PlatformUnavailable({ operation: "GamePlatform.groupMembers" });
        return broken.areMembersHidden || gamePlatform.groupMembers === undefined
          ? Effect.fail(unavailable)
          : Effect.map(gamePlatform.groupMembers(id, cursor), Option.map(broken.membersPage));
      }),
  });

  const watched = (node: string) =>
    ChatPlatform.of({
      ...chat,
      isManager: (_, user) => Effect.succeed(broken.managers(user)),
      roles: {
        findGuildRoles: (id) => ask(null, broken.hasBot ? memory.findGuildRoles(id) : Effect.succeedNone),
        findMember: (id, user) =>
          ask(
            user,
            broken.hasBot && !broken.gone.has(user) ? memory.findMember(id, user) : Effect.succeedNone,
          ),
        membersPage: (id, after) =>
          ask(
            null,
            Effect.tap(memory.membersPage(id, after), () => Effect.suspend(() => broken.afterPage)),
          ),
        addRole: (id, user, role) =>
          broken.refused.has(user)
            ? Effect.fail(new RoleRefused({ reason: "role_refused" }))
            : change("add", node)(user, role, memory.addRole(id, user, role)),
        removeRole: (id, user, role) => change("remove", node)(user, role, memory.removeRole(id, user, role)),
        setNickname: (id, user, name) =>
          broken.refused.has(user)
            ? Effect.fail(new RoleRefused({ reason: "member_above_bot" }))
            : change("nickname", node)(user, name, memory.setNickname(id, user, name)),
      },
    });

  const store = yield* RolePlanStore;

  const startNode = (name = uniqueText()) =>
    startNodeOn(store, (reachable) =>
      RoleCouriers.layer.pipe(
        Layer.provide([
          Layer.succeed(ChatPlatform, watched(name)),
          Layer.succeed(GamePlatform, watchedGame),
          Layer.succeed(RolePlanStore, reachable),
        ]),
      ),
    );

  const plans = yield* RolePlans;
  const writer = yield* LinkWriter;
  const { guild: scope } = yield* scopes;
  const guild = { scope, guildId };
  const place = { pid: scope.pid, guildId };
  const target = { origin: operator, ...guild };
  const previews = yield* makePlanPreviews.pipe(
    Effect.provide(Layer.fresh(MemberSync.layer)),
    Effect.provideService(ChatPlatform, watched("previews")),
    Effect.provideService(GamePlatform, watchedGame),
  );
  const statusNow = Effect.map(plans.find(guild), ({ status }) => status);
  const link = (user: string, game: string) =>
    writer.setGame(target, { chatId: chatId(user), gameId: gameId(game) });
  return {
    scope,
    guild,
    place,
    plans,
    store,
    /** The platform without its failures, and without the nodes that watch it. */
    roles: memory,
    changes,
    broken,
    takeAsked: () => asked.splice(0),
    watched,
    startNode,
    runNode: (seconds: number, name?: string) => Effect.tap(startNode(name), () => pass(seconds)),
    takeRequests: () => {
      const taken = requests;
      requests = 0;
      return taken;
    },
    put: (settings: Partial<PlanSettings> & Pick<ChosenSettings, "take"> = {}) =>
      plans.put(guild, { ...usual, ...settings }, operator),
    startSweep: plans.startSweep(guild),
    /** Turns a plan on, and waits until its sweep ends. */
    begin: Effect.fnUntraced(function* (settings: Partial<PlanSettings> = {}) {
      yield* plans.put(guild, { ...usual, ...settings }, operator);
      const { stop } = yield* startNode();
      while ((yield* statusNow).sweptAt === null) yield* pass(1);
      yield* stop;
      changes.length = 0;
      requests = 0;
    }),
    /** Starts a preview for all members, and returns an effect that reads it. */
    preview: Effect.fnUntraced(function* (settings: Partial<PlanSettings>) {
      yield* Effect.forkChild(previews.start({ ...usual, ...settings, ...guild }));
      return Effect.map(previews.find(place), (found) => {
        if (found === null) throw new Error("There is no preview");
        return found;
      });
    }),
    status: statusNow,
    state: Effect.map(plans.find(guild), ({ plan }) => plan.state),
    link,
    /** Links the first members to the game users 101, 102 and so on, and returns these members. */
    linkFirst: Effect.fnUntraced(function* (count: number) {
      const users = memberIds.slice(0, count);
      for (const [index, user] of users.entries()) yield* link(user, String(101 + index));
      return users;
    }),
    unlink: (user: string) => writer.removeGame(target, chatId(user), { requireMember: false }),
    rolesOf: (user: string) =>
      Effect.map(memory.findMember(guildId, chatId(user)), (found) => Option.getOrThrow(found).roleIds),
    member: (user: string) => Effect.map(memory.findMember(guildId, chatId(user)), Option.getOrThrow),
  };
});

/** Lets time pass in steps, so that waiting fibers continue in between. */
export const pass = Effect.fnUntraced(function* (seconds: number, step = 0.5) {
  for (let passed = 0; passed < seconds; passed += step) yield* TestClock.adjust(step * 1_000);
});

/** All services on a platform whose guild has these members. */
export const servicesWith = (ids: ReadonlyArray<string>) =>
  servicesOn(PlatformMemory.layer({ ...platform, guilds: [guildOf(ids)], gameUsers }));

export const test = testWith(servicesWith(memberIds));
