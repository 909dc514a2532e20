/** A guild whose members get roles. It refuses some requests and loses some answers. */
import {
  type ApiKey,
  ChatId,
  type ChatPlatform,
  GuildId,
  PlatformUnavailable,
  type StoragePorts,
} from "@accountlink/core";
import { FixtureGuild } from "@accountlink/core/fixture";
import type { RoleMember } from "@accountlink/core/platforms";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { aGuild } from "@accountlink/testing";
import type { Process, World } from "@accountlink/testing/simulation";
import { Context, Effect, Exit, Option } from "effect";
import { askService } from "./service_request.ts";

export const linkedRole = "1";
export const unlinkedRole = "2";

const guildId = GuildId.make("700000000000000001");

/** The guild refuses a request or loses its answer at most this many times. */
const mostFailures = 5;

export class Guild {
  readonly #world: World;
  readonly #outside: Process;
  readonly #guild: FixtureGuild;
  #failures = 0;

  constructor(world: World, outside: Process, members: ReadonlyArray<string>) {
    this.#world = world;
    this.#outside = outside;
    const names = { [linkedRole]: "Linked", [unlinkedRole]: "Unlinked" };
    const roles = Object.entries(names).map(([id, name]) => ({ id, name, assignable: true }));
    this.#guild = new FixtureGuild(aGuild(guildId, members, { roles }));
  }

  /** The roles of a member, sorted. */
  rolesOf(chatId: string): ReadonlyArray<string> {
    return (this.#member(chatId)?.roleIds ?? []).toSorted();
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
      findGuild: () => ask("findGuild", () => Option.some({ id: guildId, name: null })),
      roles: {
        findGuildRoles: () =>
          ask("findGuildRoles", () =>
            Option.some({ roles: [...guild.roles.values()], memberCount: guild.memberCount }),
          ),
        findMember: (_, chatId) => ask("findMember", () => Option.fromUndefinedOr(this.#member(chatId))),
        membersPage: (_, after) =>
          ask("membersPage", () => guild.page(after).map(({ chatId }) => this.#member(chatId) as RoleMember)),
        addRole: (_, chatId, role) => change("addRole", () => guild.setRole(chatId, role, true)),
        removeRole: (_, chatId, role) => change("removeRole", () => guild.setRole(chatId, role, false)),
        setNickname: (_, chatId, name) => change("setNickname", () => guild.setNickname(chatId, name)),
      },
    };
  }

  #member(chatId: string): RoleMember | undefined {
    const member = this.#guild.member(chatId);
    if (member === undefined) return undefined;
    const { nickname, roles } = member;
    const names = { username: null, displayName: null, nickname };
    return { chatId: ChatId.make(chatId), ...names, roleIds: roles.map(({ id }) => id), isBot: false };
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

  /** Turns on a role plan for a scope. The plan handles the feed from its beginning. */
  plan(scope: ApiKey["scope"], ports: Context.Context<StoragePorts>): Effect.Effect<unknown, unknown> {
    return Context.get(ports, RolePlanStore).put({
      actor: { type: "operator", id: "simulation" },
      requestId: null,
      pid: scope.pid,
      guildId,
      settings: {
        ...noPlan,
        rules: [
          { roleId: linkedRole, when: { is: "linked" }, nickname: null },
          { roleId: unlinkedRole, when: { is: "unlinked" }, nickname: null },
        ],
        state: "on",
      },
      position: 0,
      at: this.#outside.currentTimeMillisUnsafe(),
    });
  }
}
