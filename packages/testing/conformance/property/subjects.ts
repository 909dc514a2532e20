import { ChatId } from "@accountlink/core";
import type { Account } from "@accountlink/core/keys";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Record } from "effect";
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
import { ada, bob, dan, newScopes, origin, storeScopes } from "../scopes.ts";

const several = <A>(make: () => A, length = 3): ReadonlyArray<A> => Array.from({ length }, make);

/** New chat users instead of ada, bob and dan, sorted alike, so that an erasure in one run affects no other run. */
const newUsers = (): ReadonlyMap<unknown, ChatId> => {
  const id = uniqueChatId();
  return new Map([
    [ada, ChatId.make(`1${id}`)],
    [bob, ChatId.make(`2${id}`)],
    [dan, ChatId.make(`09${id}`)],
  ]);
};

/** Replaces ada, bob and dan in an input. */
export const withUsers = (users: ReadonlyMap<unknown, ChatId>, input: unknown): unknown => {
  if (Array.isArray(input)) return input.map((each) => withUsers(users, each));
  return typeof input === "object" && input !== null
    ? Record.map(input as Record<string, unknown>, (each) => withUsers(users, each))
    : (users.get(input) ?? input);
};

/** Makes what random commands refer to by index, without storing it. */
export const newSubjects = () => {
  const scopes = newScopes();
  const people = several(uniqueChatId);
  const account: Account = { ...scopes.account, chatId: people[0] ?? null };
  return {
    ...scopes,
    account,
    users: newUsers(),
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
