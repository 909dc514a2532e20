/**
 * Sign-in at both platforms, in memory: the authorization code is the ID of the user.
 */
import { ChatIdentity, GameIdentity } from "@accountlink/core";
import type { PlatformFixture } from "@accountlink/core/fixture";
import { type IdentityProvider, ProofDenied, ProofInvalid } from "@accountlink/core/platforms";
import { Effect, Layer } from "effect";

const identityOf = <UserId extends string>(
  page: string,
  users: ReadonlyArray<{ readonly id: UserId }>,
): IdentityProvider<UserId> => ({
  begin: ({ redirectUri, state }) =>
    Effect.succeed({ url: `${page}?${new URLSearchParams({ redirect_uri: redirectUri, state })}` }),
  finish: ({ state }, callback) => {
    if (callback.get("state") !== state) return Effect.fail(new ProofInvalid({ reason: "another state" }));
    if (callback.get("error") === "access_denied") return Effect.fail(new ProofDenied());
    const user = users.find(({ id }) => id === callback.get("code"));
    return user === undefined
      ? Effect.fail(new ProofInvalid({ reason: "no such user" }))
      : Effect.succeed({ userId: user.id });
  },
});

/**
 * Sign-in at both platforms; a callback is `?state=…&code=<user ID>`, or
 * `?state=…&error=access_denied`.
 */
export const layerIdentities = ({
  chatUsers,
  gameUsers,
}: PlatformFixture): Layer.Layer<ChatIdentity | GameIdentity> =>
  Layer.merge(
    Layer.succeed(ChatIdentity, identityOf("https://chat.invalid/authorize", chatUsers)),
    Layer.succeed(GameIdentity, identityOf("https://game.invalid/authorize", gameUsers)),
  );
