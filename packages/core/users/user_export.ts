import { Array as Arr, Clock, Context, Effect, Layer, Option, Record, Stream, Struct } from "effect";
import { NetAddress } from "effect/net";
import { AddressVault } from "../addresses/address_vault.ts";
import { BlockStore } from "../admission/block_store.ts";
import { type AuditEntry, signedBy } from "../audit/audit.ts";
import { guildOf } from "../data_scope.ts";
import type { ChatId, Pid } from "../ids.ts";
import { type KeyDetails, KeyStore, maskedKey } from "../keys/mod.ts";
import { forEachLimited } from "../limited_loops.ts";
import { isOrWasLinked } from "../links/link.ts";
import { shownNickname } from "../roles/kept_nickname.ts";
import { formatTimestamp } from "../timestamp.ts";
import { bounds, Turns } from "../turns/mod.ts";
import { linksOfPage } from "./own_data.ts";
import { UserData } from "./user_data.ts";
import type { DownloadedRecord } from "./user_store.ts";

/**
 * Exports the data of a chat user: addresses decrypted, times in ISO 8601, without hashes, secrets, and what only teams
 * may read. @internal
 */
export class UserExports extends Context.Service<UserExports>()("@accountlink/core/UserExports", {
  make: Effect.gen(function* () {
    const users = yield* UserData;
    const keys = yield* KeyStore;
    const vault = yield* AddressVault;
    const blockStore = yield* BlockStore;

    const [resource, longestRest] = ["user_exports", bounds.workedAtOnce] as const;
    const ofUser = new Turns({ resource, share: 1, longestRest });
    const ofAll = new Turns({ resource, places: 2, longestRest });
    /** Reads a part of a download: one of a user at a time, of two users at once. */
    const inTurn = <A, E, R>(chatId: ChatId, part: Effect.Effect<A, E, R>) =>
      ofUser.step(chatId, ofAll.step(chatId, part));

    /** Returns a function that looks up one of these scopes, as the export shows it. */
    const communitiesOf = Effect.fnUntraced(function* (pids: ReadonlyArray<Pid>) {
      const found = yield* forEachLimited([...new Set(pids)], linksOfPage, keys.findScopeByPid);
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

    const headOf = Effect.fnUntraced(function* (chatId: ChatId) {
      const { downloads, ...others } = yield* users.findMost(chatId);
      const found = { ...others, blocks: yield* blockStore.ofUser(chatId) };
      const { records, sightings, browsers: seen, roles } = found;
      const scoped = Object.values<ReadonlyArray<object>>({ ...found, ...downloads }).flat();
      const pids = [
        ...records.map(({ scope }) => scope.pid),
        ...scoped.flatMap((each) => ("pid" in each ? [each.pid as Pid] : [])),
      ];
      const shared = found.memberships.flatMap(({ scopes: some }) => some ?? []);
      const communityOf = yield* communitiesOf([...pids, ...shared]);
      const inCommunity = ({ pid, ...fields }: DownloadedRecord) => ({
        ...(pid !== undefined && { community: communityOf(pid) }),
        ...withTimes(fields),
      });
      const browsers = [...new Set(seen.map(({ sighting }) => sighting.browser))];
      const addresses = yield* vault.revealEach(sightings.map(({ sighting }) => sighting.address));
      return {
        chatId,
        exportedAt: formatTimestamp(yield* Clock.currentTimeMillis),
        accounts: found.accounts,
        // Null if the membership is of all communities of the account.
        memberships: found.memberships.map(({ account: { name }, role, scopes: some, since, chosenAt }) =>
          withTimes({
            account: name,
            role,
            communities: some === null ? null : some.map(communityOf),
            since,
            chosenAt,
          }),
        ),
        keys: found.keys.map(keyJson),
        links: records.map(({ scope: { pid }, record }) =>
          inCommunity({
            pid,
            // Of a link that an undone import made, only the version is left.
            ...(isOrWasLinked(record)
              ? Struct.omit(record, ["chatId"])
              : Struct.pick(record, ["gameId", "linkVersion"])),
          }),
        ),
        sightings: sightings.map(({ pid, sighting: { seenAt } }, index) =>
          inCommunity({
            pid,
            // Null if the address key of the sighting is no longer configured.
            address: addresses[index]?.pipe(
              Option.map(({ ip }) => NetAddress.formatIp(ip)),
              Option.getOrNull,
            ),
            seenAt,
          }),
        ),
        // A number replaces the hash of the browser. A browser has the same number in all communities.
        browsers: seen.map(({ pid, sighting: { browser, seenAt }, firstSeenAt }) =>
          inCommunity({ pid, browser: browsers.indexOf(browser) + 1, firstSeenAt, seenAt }),
        ),
        reviews: found.reviews.map(({ pid, review }) =>
          inCommunity({ pid, ...Struct.pick(review, ["otherChatId", "verdict", "note", "at"]) }),
        ),
        blocks: found.blocks.map(({ pid, at }) => inCommunity({ pid, at })),
        // Who else is in the pair is not the user's data.
        likelyAlts: found.suspects.map(({ pid, suspect: { at, score, evidence } }) =>
          inCommunity({ pid, linkedAt: at, score, reasons: evidence.map(({ kind }) => kind) }),
        ),
        roles: roles
          .filter(({ nickname, problems }) => nickname !== null || problems.length > 0)
          .map(({ pid, guildId, nickname, problems }) =>
            inCommunity({
              pid,
              guildId,
              nickname: nickname === null ? null : shownNickname(nickname),
              problems: problems.map(({ roleId, reason, at }) => withTimes({ roleId, reason, at })),
            }),
          ),
        ...Record.map(downloads, Arr.map(inCommunity)),
        previews: found.previews.map((preview) => inCommunity({ ...preview })),
        replacedNicknames: roles.flatMap(({ pid, guildId, replacedNickname: nickname }) =>
          nickname === null ? [] : [inCommunity({ pid, guildId, nickname })],
        ),
        logMessages: found.messages.map(({ pid, guildId, channelId, messageId, at }) =>
          inCommunity({ pid, guildId, channelId, messageId, at }),
        ),
        logEntries: found.logEntries.map((entry) => inCommunity({ ...entry })),
        imports: found.imports.map((link) => inCommunity(Struct.omit(link, ["chatId", "importId"]))),
      };
    });

    return {
      /**
       * Returns the data as the text of a JSON object, page by page: a user may have very many audit entries.
       *
       * @param indent the spaces of a level; 0 for one line
       */
      json: Effect.fn("UserExports.json")(function* (chatId: ChatId, indent: number) {
        const head = yield* inTurn(chatId, headOf(chatId));
        const lineAt = (level: number) => (indent === 0 ? "" : `\n${" ".repeat(indent * level)}`);
        const textAt = (level: number, value: object) =>
          JSON.stringify(value, null, indent).replaceAll("\n", lineAt(level));
        const begun = `${textAt(0, head).slice(0, -1).trimEnd()},${lineAt(1)}"entries":${indent === 0 ? "" : " "}[`;
        const pages = Stream.paginate(null as AuditEntry | null, (after) =>
          Effect.map(inTurn(chatId, users.entriesAfter(chatId, after)), (page) => {
            const texts = page.map((entry) => `${lineAt(2)}${textAt(2, entryJson(entry))}`).join(",");
            return [page.length === 0 ? [] : [after === null ? texts : `,${texts}`], Arr.last(page)] as const;
          }),
        );
        return Stream.make(begun).pipe(
          Stream.concat(pages),
          Stream.concat(Stream.make(`${lineAt(1)}]${lineAt(0)}}`)),
        );
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(UserExports, UserExports.make);
}

const entryJson = (entry: AuditEntry) =>
  withTimes({
    ...entry,
    ...signedBy(entry),
    // Only teams may read why they blocked a user, which also stands in the entry of the removed link.
    details: Struct.omit(entry.details, ["reason"]),
  });

const keyJson = (key: KeyDetails) => ({
  masked: maskedKey(key.id),
  account: key.scope.account,
  pid: key.scope.pid,
  ...Struct.pick(key, ["id", "name", "status", "allowIps", "denyIps", "redirectOrigins"]),
  ...withTimes(Struct.pick(key, ["createdAt", "expiresAt", "lastUsedAt"])),
});

const withTimes = (record: object): object =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      /(?:At|^at|^since)$/.test(name) && typeof value === "number" ? formatTimestamp(value) : value,
    ]),
  );
