/** Sign-in at both platforms in memory: the authorization code is the user ID. */
import { ChatIdentity, GameIdentity } from "@accountlink/core";
import type { PlatformFixture } from "@accountlink/core/fixture";
import {
  type IdentityProvider,
  ProofDenied,
  ProofInvalid,
  type UserGuild,
} from "@accountlink/core/platforms";
import { Effect, Layer } from "effect";

const identityOf = <UserId extends string>(
  page: string,
  users: ReadonlyArray<{ readonly id: UserId }>,
  guildsOf: (userId: UserId) => ReadonlyArray<UserGuild> = () => [],
): IdentityProvider<UserId> => ({
  begin: ({ redirectUri, state }) =>
    Effect.succeed({ url: `${page}?${new URLSearchParams({ redirect_uri: redirectUri, state })}` }),
  finish: ({ state, withGuilds }, callback) => {
    if (callback.get("state") !== state) return Effect.fail(new ProofInvalid({ reason: "another state" }));
    if (callback.get("error") === "access_denied") return Effect.fail(new ProofDenied());
    const user = users.find(({ id }) => id === callback.get("code"));
    return user === undefined
      ? Effect.fail(new ProofInvalid({ reason: "no such user" }))
      : Effect.succeed({ userId: user.id, ...(withGuilds ? { guilds: guildsOf(user.id) } : {}) });
  },
});

/** Sign-in at both platforms; a callback has the query `?state=…&code=<user ID>`, or `?state=…&error=access_denied`. */
export const layerIdentities = ({
  guilds,
  chatUsers,
  gameUsers,
}: PlatformFixture): Layer.Layer<ChatIdentity | GameIdentity> =>
  Layer.merge(
    Layer.succeed(
      ChatIdentity,
      identityOf("https://chat.invalid/authorize", chatUsers, (chatId) =>
        guilds.flatMap(({ id, name, members }) =>
          members.filter((member) => member.chatId === chatId).map(({ manager }) => ({ id, name, manager })),
        ),
      ),
    ),
    Layer.succeed(GameIdentity, identityOf("https://game.invalid/authorize", gameUsers)),
  );
