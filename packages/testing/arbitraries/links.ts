import type { DataScope, Link, ScopeTarget } from "@accountlink/core";
import type { AddressSighting, ProtectedAddress } from "@accountlink/core/addresses";
import type { AltReview, AltVerdict } from "@accountlink/core/alts";
import type { LinkRecord, PortableLink } from "@accountlink/core/links";
import { type Arbitrary, constant, constantFrom, integer, oneof, record, string, tuple } from "fast-check";
import { orNull, recordOf } from "./fields.ts";
import { chatId, gameId, guildId, hash, keyId, pid } from "./ids.ts";
import { millis, name, text } from "./texts.ts";

export const scopeTarget: Arbitrary<ScopeTarget> = oneof(
  constant<ScopeTarget>({ kind: "global" }),
  record({ kind: constant("guild"), guildId }),
);

export const dataScope: Arbitrary<DataScope> = tuple(scopeTarget, record({ pid, account: name })).map(
  ([target, scope]) => ({ ...target, ...scope }),
);

/**
 * A link that was last verified when it was linked or later.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { guildOf } from "@accountlink/core";
 * import { isLinked, unlinkedRecord } from "@accountlink/core/links";
 *
 * fc.assert(fc.property(Arbitrary.linkRecord, (record) => isLinked(record) === (record.gameId !== null)));
 * fc.assert(fc.property(Arbitrary.link, (link) => !isLinked(unlinkedRecord(link, link.lastVerifiedAt))));
 * fc.assert(
 *   fc.property(Arbitrary.dataScope, (scope) => (guildOf(scope) === null) === (scope.kind === "global")),
 * );
 * ```
 */
export const link: Arbitrary<Link> = record({
  chatId,
  gameId,
  linkVersion: integer({ min: 1, max: 1_000 }),
  times: tuple(millis, millis),
}).map(({ times, ...rest }) => ({
  ...rest,
  linkedAt: Math.min(...times),
  lastVerifiedAt: Math.max(...times),
}));

/** A record with or without a game link. */
export const linkRecord: Arbitrary<LinkRecord> = oneof(
  link,
  link.map((linked) => ({ ...linked, gameId: null })),
);

/**
 * A link of an import or an export.
 *
 * @example
 * ```ts
 * import * as fc from "fast-check";
 * import { importedRecord } from "@accountlink/core/links";
 * import { latestUsers, reviewAsSeenBy } from "@accountlink/core/alts";
 *
 * // An import of the same file changes nothing the second time.
 * fc.assert(
 *   fc.property(Arbitrary.linkRecord, Arbitrary.portableLink(), (record, link) => {
 *     const imported = importedRecord(record, link);
 *     return importedRecord(imported, link) === imported;
 *   }),
 * );
 *
 * const sightings = fc.array(Arbitrary.sighting());
 * const anyone = { hashes: [], including: [], excluding: [], limit: 3 };
 * fc.assert(fc.property(sightings, (seen) => latestUsers(seen, anyone).length <= 3));
 *
 * const swapped = Arbitrary.altReview.map((review) => reviewAsSeenBy(review.otherChatId, review));
 * fc.assert(fc.property(swapped, ({ chatId, otherChatId }) => chatId !== otherChatId));
 * ```
 */
export const portableLink = recordOf<PortableLink>({ chatId, gameId, lastVerifiedAt: millis });

const protectedAddress: Arbitrary<ProtectedAddress> = record({
  hash,
  sealed: hash,
  addressKeyId: constantFrom("2025", "2026"),
});

export const sighting = recordOf<AddressSighting>({ chatId, address: protectedAddress, seenAt: millis });

/** A review of two different users. */
export const altReview: Arbitrary<AltReview> = recordOf<AltReview>({
  chatId,
  otherChatId: chatId,
  verdict: constantFrom<AltVerdict>("different", "same"),
  note: orNull(
    oneof(
      string({ maxLength: 500 }),
      text.filter(({ length }) => length <= 500),
    ),
  ),
  at: millis,
  keyId,
})().filter((review) => review.chatId !== review.otherChatId);
