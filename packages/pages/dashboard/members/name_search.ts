import { ChatPlatform, guildOf } from "@accountlink/core";
import { InvalidParameter } from "@accountlink/core/errors";
import type { ChatId, GuildId } from "@accountlink/core/ids";
import type { KeyOwner } from "@accountlink/core/keys";
import { OwnedScopes } from "@accountlink/core/owners";
import { GuildManagers, Profiles } from "@accountlink/core/platforms";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { Effect, Option } from "effect";

const mostGuilds = 10;

/**
 * Returns a function that finds a chat user by name. Discord finds only members of a guild that the bot is in, so the
 * search covers the account's guilds and the guilds that the owner manages.
 */
export const makeNameSearch = Effect.gen(function* () {
  const chats = yield* ChatPlatform;
  const scopes = yield* OwnedScopes;
  const managers = yield* GuildManagers;
  const profiles = yield* Profiles;
  const unknown = InvalidParameter.one("username", { is: "known_name" });

  return Effect.fnUntraced(function* (
    username: string,
    { owner, signIn }: { readonly owner: KeyOwner; readonly signIn: Pick<SiteSignIn, "guilds"> },
  ) {
    const { findUserByName } = chats;
    if (findUserByName === undefined) return yield* unknown;
    const name = username.replace(/^@/, "");
    const findIn = (guildId: GuildId | null) => Effect.map(findUserByName(name, guildId), Option.getOrNull);
    const anywhere = yield* findIn(null);
    if (anywhere !== null) return anywhere;
    const lists = (yield* scopes.list(owner)).flatMap(({ scope }) => {
      const guildId = guildOf(scope);
      return guildId === null ? [] : [{ scope, guildId }];
    });
    const lent = yield* Effect.filter(lists.slice(0, mostGuilds), ({ scope, guildId }) =>
      managers.mayName(scope, guildId),
    );
    const owned = lent.map(({ guildId }) => guildId);
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

export const makeUserSearch = Effect.gen(function* () {
  const { findUser } = yield* ChatPlatform;
  const findByName = yield* makeNameSearch;

  return Effect.fnUntraced(function* (
    who: { readonly chatId: ChatId } | { readonly username: string },
    input: Parameters<typeof findByName>[1],
  ) {
    const chatId = "chatId" in who ? who.chatId : yield* findByName(who.username, input);
    const user = Option.getOrNull(yield* findUser(chatId));
    return user === null ? yield* InvalidParameter.one("chatId", { is: "known_id" }) : { chatId, user };
  });
});
