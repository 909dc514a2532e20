import type { Account } from "@accountlink/core/keys";
import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";
import {
  makeKey,
  uniqueChatId,
  uniqueEventId,
  uniqueFlowId,
  uniqueKeyId,
  uniqueSessionId,
  uniqueSignInId,
  uniqueText,
  uniqueWebhookId,
} from "../../mod.ts";
import { uniqueGuildId } from "../roles/role_steps.ts";
import { newScopes, origin, storeScopes } from "../scopes.ts";

const several = <A>(make: () => A, length = 3): ReadonlyArray<A> => Array.from({ length }, make);

/** Makes what random commands refer to by index, without storing it. */
export const newSubjects = () => {
  const scopes = newScopes();
  const people = several(uniqueChatId);
  const account: Account = { ...scopes.account, chatId: people[0] ?? null };
  return {
    ...scopes,
    account,
    /** The key that owns the sessions. No command changes this key. */
    sessionKey: makeKey(scopes.global),
    keyIds: several(uniqueKeyId),
    hashes: several(uniqueText, 8),
    sessionIds: several(uniqueSessionId),
    flowIds: several(uniqueFlowId),
    challenges: several(uniqueText, 2),
    people,
    signInIds: several(uniqueSignInId),
    webhookIds: several(uniqueWebhookId),
    eventIds: Array.from({ length: 4 }, (_, time) => uniqueEventId(time)),
    guildIds: several(uniqueGuildId),
    nodes: several(uniqueText, 2),
  };
};

export type CommandSubjects = ReturnType<typeof newSubjects>;

/** Stores the account, its scopes and the key of the sessions. */
export const storeSubjects = Effect.fnUntraced(function* (subjects: CommandSubjects) {
  const keys = yield* KeyStore;
  yield* storeScopes(subjects);
  const key = subjects.sessionKey;
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
});

/** The subject with this index, which is less than the number of subjects. */
export const nth = <A>(subjects: ReadonlyArray<A>, index: number): A => subjects[index] as A;
