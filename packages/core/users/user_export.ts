import { Clock, Context, Effect, Layer, Option } from "effect";
import { NetAddress } from "effect/net";
import { AddressVault } from "../addresses/address_vault.ts";
import { type AuditEntry, signedBy } from "../audit/audit.ts";
import { guildOf } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { type KeyDetails, maskedKey } from "../keys/api_key.ts";
import { KeyStore } from "../keys/key_store.ts";
import { formatTimestamp, timeOrNull } from "../timestamp.ts";
import { UserData } from "./user_data.ts";

/** Exports the data of a chat user: addresses decrypted, times in ISO 8601, without hashes and secrets. @internal */
export class UserExports extends Context.Service<
  UserExports,
  { readonly of: (chatId: ChatId) => StoreEffect<object> }
>()("@accountlink/core/UserExports") {
  static readonly layer = Effect.gen(function* () {
    const users = yield* UserData;
    const keys = yield* KeyStore;
    const vault = yield* AddressVault;

    /** Returns a function that looks up one of these scopes, as the export shows it. */
    const communitiesOf = Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
      const found = yield* Effect.forEach([...new Set(pids)], (pid) => keys.findScopeByPid(pid));
      const communities = new Map(
        found.flatMap(Option.toArray).map(({ scope, settings }) => [
          scope.pid,
          {
            pid: scope.pid,
            account: scope.account,
            guildId: guildOf(scope),
            name: settings.displayName,
          },
        ]),
      );
      return (pid: Pid) => communities.get(pid) ?? { pid };
    });

    return UserExports.of({
      of: Effect.fn("UserExports.of")(function* (chatId) {
        const found = yield* users.find(chatId);
        const { records, sightings, browsers: seen, reviews, roles, sessions, flows } = found;
        const scoped = [...sightings, ...seen, ...reviews, ...roles, ...sessions, ...flows];
        const scopes = records.map(({ scope }) => scope);
        const communityOf = yield* communitiesOf([...scopes, ...scoped].map(({ pid }) => pid));
        const browsers = [...new Set(found.browsers.map(({ sighting }) => sighting.browser))];
        const addresses = yield* vault.revealEach(found.sightings.map(({ sighting }) => sighting.address));
        return {
          chatId,
          exportedAt: formatTimestamp(yield* Clock.currentTimeMillis),
          accounts: found.accounts,
          memberships: found.memberships.map(({ account: { name }, role, since }) => ({
            account: name,
            role,
            since: formatTimestamp(since),
          })),
          keys: found.keys.map(keyJson),
          links: found.records.map(
            ({ scope, record: { gameId, linkVersion, linkedAt, lastVerifiedAt } }) => ({
              community: communityOf(scope.pid),
              gameId,
              linkVersion,
              linkedAt: formatTimestamp(linkedAt),
              lastVerifiedAt: formatTimestamp(lastVerifiedAt),
            }),
          ),
          sightings: found.sightings.map(({ pid, sighting: { seenAt } }, index) => ({
            community: communityOf(pid),
            // Null if the address key of the sighting is no longer configured.
            address: addresses[index]?.pipe(
              Option.map(({ ip }) => NetAddress.formatIp(ip)),
              Option.getOrNull,
            ),
            seenAt: formatTimestamp(seenAt),
          })),
          browsers: found.browsers.map(({ pid, sighting: { browser, seenAt }, firstSeenAt }) => ({
            community: communityOf(pid),
            // A number replaces the hash of the browser. A browser has the same number in all communities.
            browser: browsers.indexOf(browser) + 1,
            firstSeenAt: timeOrNull(firstSeenAt),
            seenAt: formatTimestamp(seenAt),
          })),
          reviews: found.reviews.map(({ pid, review: { otherChatId, verdict, note, at } }) => ({
            community: communityOf(pid),
            otherChatId,
            verdict,
            note,
            at: formatTimestamp(at),
          })),
          roles: found.roles.map(({ pid, guildId, nickname, problems }) => ({
            community: communityOf(pid),
            guildId,
            nickname,
            problems: problems.map(({ roleId, reason, at }) => ({
              roleId,
              reason,
              at: formatTimestamp(at),
            })),
          })),
          sessions: found.sessions.map(({ id: _, pid, createdAt, expiresAt, completedAt, ...session }) => ({
            community: communityOf(pid),
            ...session,
            createdAt: formatTimestamp(createdAt),
            expiresAt: formatTimestamp(expiresAt),
            completedAt: timeOrNull(completedAt),
          })),
          flows: found.flows.map(({ pid, gameId, expiresAt }) => ({
            community: communityOf(pid),
            gameId,
            expiresAt: formatTimestamp(expiresAt),
          })),
          signIns: found.signIns.map(({ site, account, guilds, device, createdAt, expiresAt }) => ({
            site,
            account,
            guilds,
            device,
            createdAt: formatTimestamp(createdAt),
            expiresAt: formatTimestamp(expiresAt),
          })),
          entries: found.entries.map(entryJson),
        };
      }),
    });
  }).pipe(Layer.effect(UserExports));
}

const keyJson = (key: KeyDetails) => ({
  id: key.id,
  masked: maskedKey(key.id),
  name: key.name,
  account: key.scope.account,
  pid: key.scope.pid,
  status: key.status,
  allowIps: key.allowIps,
  denyIps: key.denyIps,
  redirectOrigins: key.redirectOrigins,
  createdAt: formatTimestamp(key.createdAt),
  expiresAt: timeOrNull(key.expiresAt),
  lastUsedAt: timeOrNull(key.lastUsedAt),
});

const entryJson = (entry: AuditEntry) => ({ ...entry, ...signedBy(entry), at: formatTimestamp(entry.at) });
