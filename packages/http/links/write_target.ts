/**
 * The target of a write.
 */
import type { WriteTarget } from "@accountlink/core/links";
import type { RequestedGuild } from "@accountlink/core/platforms";
import type { KeyedInput } from "../pipeline/pipeline.ts";

/** The input of a route with an optional guild. */
export type GuildInput = KeyedInput<{}> & { readonly values: { readonly guildId: RequestedGuild } };

/** The scope of the key, the guild of the request, and the key as actor. */
export const targetOf = ({ key, values, context }: GuildInput): WriteTarget => ({
  scope: key.scope,
  guildId: values.guildId,
  origin: { actor: { type: "key", id: key.id }, requestId: context.requestId },
});
