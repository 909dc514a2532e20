/** IDs in every form that their schemas accept, including leading zeros and the maximum length. */
import { ChatId, GameId, GuildId, KeyId, Pid, Sid } from "@accountlink/core";
import { SessionId } from "@accountlink/core/ids";
import { type Arbitrary, stringMatching } from "fast-check";

export const chatId: Arbitrary<ChatId> = stringMatching(/^\d{5,32}$/).map((text) => ChatId.make(text));

export const gameId: Arbitrary<GameId> = stringMatching(/^\d{1,32}$/).map((text) => GameId.make(text));

export const guildId: Arbitrary<GuildId> = stringMatching(/^\d{5,32}$/).map((text) => GuildId.make(text));

export const pid: Arbitrary<Pid> = stringMatching(/^pid_[0-9a-z]{16,64}$/).map((text) => Pid.make(text));

export const keyId: Arbitrary<KeyId> = stringMatching(/^[0-9A-Za-z]{12}$/).map((text) => KeyId.make(text));

/**
 * A hash as base64url, 43 characters.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { GameId, GuildId, KeyId, Pid, Sid } from "@accountlink/core";
 * import { SessionId } from "@accountlink/core/ids";
 * import { Schema } from "effect";
 *
 * fc.assert(fc.property(Arbitrary.gameId, Schema.is(GameId)));
 * fc.assert(fc.property(Arbitrary.guildId, Schema.is(GuildId)));
 * fc.assert(fc.property(Arbitrary.keyId, Schema.is(KeyId)));
 * fc.assert(fc.property(Arbitrary.pid, Schema.is(Pid)));
 * fc.assert(fc.property(Arbitrary.sid, Schema.is(Sid)));
 * fc.assert(fc.property(Arbitrary.sessionId, Schema.is(SessionId)));
 * fc.assert(fc.property(Arbitrary.hash, ({ length }) => length === 43));
 * ```
 */
export const hash: Arbitrary<string> = stringMatching(/^[0-9A-Za-z_-]{43}$/);

export const sid: Arbitrary<Sid> = hash.map((text) => Sid.make(`vs_${text}`));

export const sessionId: Arbitrary<SessionId> = hash.map((text) => SessionId.make(`vs_${text}`));
