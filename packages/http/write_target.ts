/**
 * Where a write of a request goes.
 */
import type { RequestedGuild, WriteTarget } from "@accountlink/core";
import type { KeyedInput } from "./pipeline.ts";

/** A request that names a guild, or could have. */
export type GuildInput = KeyedInput<{}> & { readonly values: { readonly guildId: RequestedGuild } };

/** The scope of the key, in the guild of the request, on the account of the key. */
export const targetOf = ({ key, values, exchange }: GuildInput): WriteTarget => ({
  scope: key.scope,
  guildId: values.guildId,
  origin: { actor: { type: "key", id: key.id }, requestId: exchange.requestId },
});
