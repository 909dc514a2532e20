import type { Commit } from "@accountlink/core/idempotency";
import type { WriteTarget } from "@accountlink/core/links";
import type { RequestedGuild } from "@accountlink/core/platforms";
import type { KeyedInput } from "../pipeline/pipeline.ts";

export type GuildInput = KeyedInput<{}> & { readonly values: { readonly guildId: RequestedGuild } };

/** The scope of the key, the guild of the request, the key as actor, and the commit function of the write. */
export const targetOf = <A = unknown>({
  key,
  values,
  context,
  commit,
}: GuildInput & { readonly commit?: Commit<A> }): WriteTarget<A> => ({
  scope: key.scope,
  guildId: values.guildId,
  origin: { actor: { type: "key", id: key.id }, requestId: context.requestId },
  commit,
});
