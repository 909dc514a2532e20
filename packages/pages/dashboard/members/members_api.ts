import { ChatPlatform, guildOf } from "@accountlink/core";
import { type Member, type MemberChange, Members } from "@accountlink/core/accounts";
import { OwnedScopes } from "@accountlink/core/communities";
import { BadRequest, InvalidParameter } from "@accountlink/core/errors";
import type { ChatId, GuildId } from "@accountlink/core/ids";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { type BoundRoute, isoTime } from "@accountlink/http/site";
import { DashboardMembers } from "@accountlink/http-api";
import { Effect, Option } from "effect";
import { makeApiPipeline, type OwnerInput } from "../api_pipeline.ts";

/** The most guilds that are searched for a user name. */
const mostGuilds = 10;

export const membersApi = Effect.gen(function* () {
  const bind = yield* makeApiPipeline;
  const members = yield* Members;
  const profiles = yield* Profiles;
  const findByName = yield* makeNameSearch;

  const toJson = ({ chatId, role, since }: Member) =>
    Effect.map(profiles.chat(chatId, null), (profile) => ({
      chatId,
      role,
      since: isoTime(since),
      username: profile?.username ?? null,
      displayName: profile?.displayName ?? null,
    }));

  const changed = Effect.fnUntraced(function* (owner: KeyOwner, change: MemberChange) {
    const { name } = owner.account;
    yield* members.change(name, change, originOf(owner));
    const member = (yield* members.list(name)).find(({ chatId }) => chatId === change.chatId);
    if (member === undefined) return yield* new BadRequest({ problem: "not_found" });
    return { data: { member: yield* toJson(member) } };
  });

  const routes: ReadonlyArray<BoundRoute> = [
    bind(
      DashboardMembers.getMembers,
      Effect.fnUntraced(function* ({ owner: { account } }) {
        const listed = yield* members.list(account.name);
        return { data: { members: yield* Effect.forEach(listed, toJson, { concurrency: 8 }) } };
      }),
    ),

    bind(
      DashboardMembers.addMember,
      Effect.fnUntraced(function* (input) {
        const { chatId, username, role } = input.values;
        const meant = chatId ?? (yield* findByName(username ?? "", input));
        const added = yield* changed(input.owner, { type: "add", chatId: meant, role });
        return { status: 201 as const, ...added };
      }),
    ),

    bind(DashboardMembers.patchMember, ({ owner, values: { chatId, role } }) =>
      changed(owner, { type: "set_role", chatId, role }),
    ),

    bind(DashboardMembers.removeMember, ({ owner, values: { chatId } }) =>
      Effect.as(members.change(owner.account.name, { type: "remove", chatId }, originOf(owner)), {
        data: { removed: true },
      }),
    ),
  ];
  return routes;
});

/**
 * Returns a function that finds a chat user by name. Discord finds only members of a guild that the bot is in, so the
 * search covers the account's guilds and the guilds that the owner manages.
 */
const makeNameSearch = Effect.gen(function* () {
  const chats = yield* ChatPlatform;
  const scopes = yield* OwnedScopes;
  const profiles = yield* Profiles;
  const unknown = InvalidParameter.one("username", "nobody was found with this user name");

  return Effect.fnUntraced(function* (
    username: string,
    { owner, signIn }: Pick<OwnerInput<{}>, "owner" | "signIn">,
  ) {
    const { findUserByName } = chats;
    if (findUserByName === undefined) return yield* unknown;
    const name = username.replace(/^@/, "");
    const findIn = (guildId: GuildId | null) => Effect.map(findUserByName(name, guildId), Option.getOrNull);
    const anywhere = yield* findIn(null);
    if (anywhere !== null) return anywhere;
    const owned = (yield* scopes.list(owner.account)).flatMap(({ scope }) => guildOf(scope) ?? []);
    const managed = (yield* profiles.ownGuilds(signIn.guilds ?? []))
      .filter(({ bot, manager }) => bot && manager)
      .map(({ guildId }) => guildId);
    for (const guildId of [...new Set([...owned, ...managed])].slice(0, mostGuilds)) {
      const found: ChatId | null = yield* findIn(guildId);
      if (found !== null) return found;
    }
    return yield* unknown;
  });
});
