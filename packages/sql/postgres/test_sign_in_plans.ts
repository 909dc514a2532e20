/** For tests: SQL that adds many sign-ins, and operations of `SignInStore`. */
import { ChatId } from "@accountlink/core";
import type { SignInId } from "@accountlink/core/ids";
import { SignInStore } from "@accountlink/core/sign_ins";
import { makeSignIn } from "@accountlink/testing";

/** SQL that adds, for each account, 20 sign-ins of different users, and 20 sign-ins that have only begun. */
export const fillSignIns = (accounts: number) => `
  INSERT INTO site_sign_ins (id, site, chat_id, guilds, created_at, expires_at)
    SELECT 'sign-in ' || i, 'dashboard', (1000000 + i)::text, '[]', i, 1000000 + i
    FROM generate_series(1, ${accounts * 20}) AS i;
  INSERT INTO begun_sign_ins (state_hash, site, expires_at)
    SELECT 'begun ' || i, 'dashboard', 1000000 + i FROM generate_series(1, ${accounts * 20}) AS i;
`;

const idOf = (index: number) => `sign-in ${index}` as SignInId;
const chatIdOf = (index: number) => ChatId.make(`${1_000_000 + index}`);

export const signInOperations = {
  "SignInStore.takeBegun": SignInStore.use((signIns) => signIns.takeBegun("dashboard", "begun 2000", 1)),
  "SignInStore.create": SignInStore.use((signIns) =>
    signIns.create(makeSignIn({ chatId: chatIdOf(1), createdAt: 1, expiresAt: 9_000_000 }), idOf(1_999)),
  ),
  "SignInStore.find": SignInStore.use((signIns) => signIns.find("dashboard", idOf(2_001), 1)),
  "SignInStore.list": SignInStore.use((signIns) => signIns.list("dashboard", chatIdOf(2_001), 1)),
  "SignInStore.end": SignInStore.use((signIns) => signIns.end("dashboard", chatIdOf(2_003), null)),
  "SignInStore.sweep": SignInStore.use((signIns) => signIns.sweep(1_000_010)),
};
