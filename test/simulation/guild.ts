/** A guild whose members get roles and reminders. It refuses some requests and loses some answers. */
import {
  type ApiKey,
  ChatId,
  type ChatPlatform,
  type GamePlatform,
  GuildId,
  PlatformUnavailable,
  type StoragePorts,
} from "@accountlink/core";
import { CommunityStore } from "@accountlink/core/communities";
import { FixtureGuild } from "@accountlink/core/fixture";
import type { ChatChannels, RoleMember } from "@accountlink/core/platforms";
import { type PlanSettings, RolePlanStore } from "@accountlink/core/roles";
import { aGuild } from "@accountlink/testing";
import type { Chance, Process, World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit, Option } from "effect";
import { allRoles, somePlan } from "./guild_plan.ts";
import { gameUser, origin, team, unlinkedChatIds } from "./people.ts";
import { askService } from "./service_request.ts";

const guildId = GuildId.make("700000000000000001");

/** The guild refuses a request or loses its answer at most this many times. */
const mostFailures = 5;

interface Message {
  readonly at: number;
  readonly from: Process;
  readonly chatId: string;
  readonly once: string;
}

export class Guild {
  readonly #world: World;
  readonly #outside: Process;
  readonly #guild: FixtureGuild;
  readonly #heldAtFirst = new Map<string, ReadonlyArray<string>>();
  /** The private messages that members got, each with the text that makes it unique, and the process that sent it. */
  readonly messages: Array<Message> = [];
  /** A node that dies when the guild has set a nickname for it. */
  fatalFor: Process | null = null;
  #failures = 0;
  /** The settings of the plan; null before it is turned on. */
  settings: PlanSettings | null = null;
  #reminds = false;

  /** @param chance draws the roles that members have before any plan */
  constructor(world: World, outside: Process, members: ReadonlyArray<string>, chance: Chance) {
    this.#world = world;
    this.#outside = outside;
    const roles = allRoles.map((id) => ({ id, name: `Role ${id}`, assignable: true }));
    this.#guild = new FixtureGuild(aGuild(guildId, members, { roles }));
    for (const chatId of members) {
      const held = allRoles.filter(() => chance.happens(0.2));
      this.#heldAtFirst.set(chatId, held);
      for (const role of held) this.#guild.setRole(chatId, role, true);
    }
  }

  /** Whether members without a link get reminders, and some have none yet. */
  get isReminding(): boolean {
    return this.#reminds && this.messages.length < unlinkedChatIds.length;
  }

  shownOf(chatId: string): { readonly roles: ReadonlyArray<string>; readonly nickname: string | null } {
    const { roleIds = [], nickname = null } = this.#member(chatId) ?? {};
    return { roles: roleIds.toSorted(), nickname };
  }

  heldAtFirst(chatId: string): ReadonlyArray<string> {
    return this.#heldAtFirst.get(chatId) ?? [];
  }

  platformOf(node: Process, platform: ChatPlatform["Service"]): ChatPlatform["Service"] {
    const ask = <A>(operation: string, answer: () => A) => this.#ask(node, operation, answer);
    const guild = this.#guild;
    const change = (operation: string, make: () => ReturnType<FixtureGuild["setRole"]>) =>
      Effect.flatMap(ask(operation, make), (made) =>
        typeof made === "boolean" ? Effect.succeed(made) : Effect.fail(made),
      );
    return {
      ...platform,
      findGuild: (id) => ask("findGuild", () => Option.some({ id, name: null })),
      isManager: (_, chatId) => ask("isManager", () => chatId === team.owner),
      channels: {
        ...(platform.channels as ChatChannels),
        findChannels: () => Effect.succeed(Option.some({ channels: [], locale: null })),
        postPrivately: (chatId, _, once) =>
          ask("postPrivately", () => this.#post(node, chatId, once)).pipe(
            Effect.orElseSucceed(() => "unanswered" as const),
          ),
      },
      roles: {
        findGuildRoles: () =>
          ask("findGuildRoles", () =>
            Option.some({ roles: [...guild.roles.values()], memberCount: guild.memberCount }),
          ),
        findMember: (_, chatId) => ask("findMember", () => Option.fromUndefinedOr(this.#member(chatId))),
        membersPage: (_, after) =>
          ask("membersPage", () => {
            const { members, next } = guild.page(after);
            return { members: members.map(({ chatId }) => this.#member(chatId) as RoleMember), next };
          }),
        addRole: (_, chatId, role) => change("addRole", () => guild.setRole(chatId, role, true)),
        removeRole: (_, chatId, role) => change("removeRole", () => guild.setRole(chatId, role, false)),
        setNickname: (_, chatId, name) =>
          change("setNickname", () => {
            const made = guild.setNickname(chatId, name);
            if (node === this.fatalFor) node.kill();
            return made;
          }),
      },
    };
  }

  /** Tells which items game users have. */
  gamesOf(node: Process, platform: GamePlatform["Service"]): GamePlatform["Service"] {
    return {
      ...platform,
      hasItem: (gameId) => this.#ask(node, "hasItem", () => gameUser(gameId).item),
    };
  }

  /** Sends a message, unless the platform has got the same one before. */
  #post(from: Process, chatId: string, once: string): "sent" {
    if (this.messages.every((sent) => sent.once !== once)) {
      this.messages.push({ at: this.#world.now, from, chatId, once });
    }
    return "sent";
  }

  #member(chatId: string): RoleMember | undefined {
    const member = this.#guild.member(chatId);
    if (member === undefined) return undefined;
    const { nickname, roles } = member;
    const names = { username: `user_${chatId}`, displayName: null, nickname };
    const joined = "2020-01-01T00:00:00.000Z";
    return {
      chatId: ChatId.make(chatId),
      ...names,
      roleIds: roles.map(({ id }) => id),
      isBot: false,
      joined,
    };
  }

  #ask<A>(node: Process, operation: string, answer: () => A): Effect.Effect<A, PlatformUnavailable> {
    const { chance } = this.#world;
    const failure = new PlatformUnavailable({ operation });
    return askService(node, this.#outside, failure, () => {
      const mayFail = this.#failures < mostFailures;
      const [refuses, isLost] = [mayFail && chance.happens(0.1), mayFail && chance.happens(0.1)];
      if (refuses || isLost) this.#failures++;
      const exit = refuses ? Exit.fail(failure) : Exit.succeed(answer());
      return isLost ? null : exit;
    });
  }

  /** Turns on a role plan for a scope, which `chance` draws. The plan handles the feed from its beginning. */
  plan(
    scope: ApiKey["scope"],
    ports: Context.Context<StoragePorts>,
    chance: Chance,
  ): Effect.Effect<unknown, unknown> {
    const settings = somePlan(chance);
    this.settings = settings;
    this.#reminds = chance.happens(0.5);
    const at = this.#outside.currentTimeMillisUnsafe();
    const write = { ...origin, pid: scope.pid, guildId, position: 0, at };
    return Effect.andThen(
      Context.get(ports, RolePlanStore).put({ ...write, settings }),
      Context.get(ports, CommunityStore).update({
        ...write,
        update: { remindAfterDays: this.#reminds ? 1 : null },
      }),
    );
  }
}
